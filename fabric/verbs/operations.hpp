// SPDX-License-Identifier: BSD-3-Clause
// The functions behind the tables in ibv_context and verbs_context. Meaning, arguments and results
// are those of the ibv_ function of the same name (see its man page in section 3 of rdma-core);
// return values are errno numbers.
#pragma once

#include <infiniband/verbs.h>

namespace fabric::verbs {

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr, std::size_t size);
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attr, std::size_t size);
int query_rt_values(ibv_context* context, ibv_values_ex* values);
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* list,
              std::uint32_t count);

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr);
int poll_cq(ibv_cq* cq, int entries, ibv_wc* wc);
int req_notify_cq(ibv_cq* cq, int solicited_only);

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attr);
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad);

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr);
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad);
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad);

// Memory windows and XRC domains do not exist here; the header calls these without looking.
ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type);
int bind_mw(ibv_qp* qp, ibv_mw* window, ibv_mw_bind* bind);
int dealloc_mw(ibv_mw* window);
int close_xrcd(ibv_xrcd* domain);

}  // namespace fabric::verbs
