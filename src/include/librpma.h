/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpma - remote persistent memory access over RDMA
 *
 * CONVENTIONS (they hold for every function unless its comment says otherwise)
 *
 * Return value. Functions return 0 on success and one of the negative RPMA_E_* codes on failure.
 *   After a failure nothing has been written through an output pointer, and one line that says
 *   what failed and what can be done has gone to the log function. After RPMA_E_PROVIDER and
 *   RPMA_E_AGAIN errno is what rdma-core or the system reported; a name that is not found has a
 *   code of getaddrinfo(3) instead, in the log line. RPMA_E_NO_EVENT and RPMA_E_NO_COMPLETION are
 *   no faults: they are not logged (but a wait that the system refuses is), and RPMA_E_AGAIN is
 *   logged at level debug only.
 *
 * NULL. A pointer argument must not be NULL unless its description allows it: RPMA_E_INVAL.
 *
 * Ownership. X_new, X_listen, X_reg, X_next_conn_req and X_from_descriptor give a new object to
 *   the caller, who frees it with the matching function (_delete, _shutdown, _dereg). That
 *   function takes the address of the caller's pointer and sets the pointer to NULL, also when it
 *   reports an error: the object is gone then, and must not be freed again. A pointer that is
 *   NULL already is no error and gives 0. Getters hand out what still belongs to the object they
 *   were asked for.
 *
 * Lifetime. A peer may be deleted before the regions, endpoints, requests, connections and shared
 *   receive queues made from it; what they need of it lives on until the last of them has gone.
 *   The same holds for a shared receive queue and the configurations, requests and connections
 *   that use it, and for an endpoint and the requests taken from it. The device context a peer
 *   was made from belongs to rdma-core and is not closed.
 *
 * Memory of the program. A region registers memory that stays the program's own; it must not be
 *   unmapped before rpma_mr_dereg(). The source of an unfinished operation must not be changed or
 *   reused, and the destination of an unfinished read or receive must not be looked at, before
 *   the completion of that operation (or of a later one on the same connection) has been
 *   collected. rpma_atomic_write() alone copies its source before it returns.
 *
 * Completions. An operation is asked for, not done, when its function returns 0. With
 *   RPMA_F_COMPLETION_ALWAYS it makes one work completion (struct ibv_wc); with
 *   RPMA_F_COMPLETION_ON_ERROR it makes one only if it fails. wr_id holds the op_context given.
 *   In a failed completion only wr_id, status, qp_num and vendor_err are valid. An operation
 *   without a completion keeps its place in the send queue until a later one that asked for a
 *   completion has completed and has been collected: ask for one at least once per queue length.
 *
 * Threads. "safe": callable from any thread at any time, also on the same objects. "exclusive":
 *   safe beside everything else, but no other thread may use the object that this call deletes or
 *   consumes.
 *
 * Doc comments. Each function has @brief, a description, @param, @error CODE: cause (for every
 *   code it returns), @threads and @see, in this order.
 */
#ifndef LIBRPMA_H
#define LIBRPMA_H 1

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Error codes @{ */
#define RPMA_E_UNKNOWN (-100000)         /**< a failure without a known cause */
#define RPMA_E_NOSUPP (-100001)          /**< not supported */
#define RPMA_E_PROVIDER (-100002)        /**< rdma-core or the device reported an error */
#define RPMA_E_NOMEM (-100003)           /**< out of memory */
#define RPMA_E_INVAL (-100004)           /**< an argument is invalid */
#define RPMA_E_NO_COMPLETION (-100005)   /**< no completion at present; no fault */
#define RPMA_E_NO_EVENT (-100006)        /**< no event at present; no fault */
#define RPMA_E_AGAIN (-100007)           /**< cannot be done now, can be done later */
#define RPMA_E_SHARED_CHANNEL (-100008)  /**< the completion channel is shared */
#define RPMA_E_NOT_SHARED_CHNL (-100009) /**< the completion channel is not shared */
/** @} */

/** Flag of rpma_conn_wait(): without effect, kept for compatibility. */
#define RPMA_W_WAIT_FOR_COMPLETION (1)

/** Time limit in milliseconds for each of address and route resolution. */
#define RPMA_DEFAULT_TIMEOUT_MS 1000

/* ------------------------------------------------------------------ finding a device */

/** Which device rpma_utils_get_ibv_context() looks for. */
enum rpma_util_ibv_context_type {
    RPMA_UTIL_IBV_CONTEXT_LOCAL, /**< the one that has the address */
    RPMA_UTIL_IBV_CONTEXT_REMOTE /**< the one that reaches the address */
};

/**
 * @brief find the RDMA device for an address
 *
 * The context belongs to rdma-core, stays valid until the program ends, and must not be closed. A
 * name is resolved, and all of its addresses are tried. A wildcard address (0.0.0.0, ::) belongs
 * to no device; as a local address it stands for the first RDMA device of the machine. Where
 * there is no RDMA device the log says so and names the ways out: run the program by `rpma-fabric
 * run --` (a device made of software), set up Soft-RoCE, or install an adapter.
 *
 * @param addr address or host name: of this machine (local) or of the other side (remote)
 * @param type local or remote
 * @param[out] ibv_ctx_ptr the device context
 * @error RPMA_E_INVAL: addr or ibv_ctx_ptr is NULL, or type is neither of the two
 * @error RPMA_E_NOMEM: out of memory
 * @error RPMA_E_PROVIDER: the address was not understood, no device has or reaches it
 * @threads safe
 * @see rpma_peer_new, rpma_utils_ibv_context_is_odp_capable
 */
int rpma_utils_get_ibv_context(const char* addr, enum rpma_util_ibv_context_type type,
                               struct ibv_context** ibv_ctx_ptr);

/**
 * @brief tell whether a device can register memory without pinning it (on-demand paging)
 *
 * Without on-demand paging file-backed memory of a DAX file system cannot be registered.
 *
 * @param ibv_ctx the device context
 * @param[out] is_odp_capable 1 if on-demand paging works for RDMA read and write, else 0
 * @error RPMA_E_INVAL: ibv_ctx or is_odp_capable is NULL
 * @error RPMA_E_PROVIDER: the device could not be queried
 * @threads safe
 * @see rpma_utils_get_ibv_context, rpma_mr_reg
 */
int rpma_utils_ibv_context_is_odp_capable(struct ibv_context* ibv_ctx, int* is_odp_capable);

/* ------------------------------------------------------------------ peer configuration */

/** What one side tells the other about itself. */
struct rpma_peer_cfg;

/**
 * @brief create a peer configuration
 *
 * Direct write to persistent memory is false at first.
 *
 * @param[out] pcfg_ptr the new object
 * @error RPMA_E_INVAL: pcfg_ptr is NULL
 * @error RPMA_E_NOMEM: out of memory
 * @threads safe
 * @see rpma_peer_cfg_delete, rpma_peer_cfg_set_direct_write_to_pmem, rpma_peer_cfg_get_descriptor
 */
int rpma_peer_cfg_new(struct rpma_peer_cfg** pcfg_ptr);

/**
 * @brief delete a peer configuration
 *
 * @param[in,out] pcfg_ptr the object; NULL afterwards
 * @error RPMA_E_INVAL: pcfg_ptr is NULL
 * @threads exclusive
 * @see rpma_peer_cfg_new, rpma_peer_cfg_from_descriptor
 */
int rpma_peer_cfg_delete(struct rpma_peer_cfg** pcfg_ptr);

/**
 * @brief declare whether remote writes reach this side's persistent memory directly
 *
 * True says that what has been flushed into a region of this side survives a power failure
 * without any action of this side's CPU: data written by the adapter do not stay in a CPU cache
 * that is lost (Direct Write to PMem is on, or the caches belong to the persistence domain).
 * Declaring it where it does not hold loses data.
 *
 * @param pcfg the object
 * @param supported true or false
 * @error RPMA_E_INVAL: pcfg is NULL
 * @threads safe
 * @see rpma_peer_cfg_get_direct_write_to_pmem, rpma_conn_apply_remote_peer_cfg, rpma_flush
 */
int rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg* pcfg, bool supported);

/**
 * @brief read the declaration made by rpma_peer_cfg_set_direct_write_to_pmem()
 *
 * @param pcfg the object
 * @param[out] supported true or false
 * @error RPMA_E_INVAL: pcfg or supported is NULL
 * @threads safe
 * @see rpma_peer_cfg_set_direct_write_to_pmem
 */
int rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg* pcfg, bool* supported);

/**
 * @brief write the descriptor of a peer configuration, to be sent to the other side
 *
 * The descriptor is 1 byte: 0 or 1.
 *
 * @param pcfg the object
 * @param[out] desc memory of at least rpma_peer_cfg_get_descriptor_size() bytes, at any alignment
 * @error RPMA_E_INVAL: pcfg or desc is NULL
 * @threads safe
 * @see rpma_peer_cfg_get_descriptor_size, rpma_peer_cfg_from_descriptor
 */
int rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg* pcfg, void* desc);

/**
 * @brief give the size of the descriptor of a peer configuration
 *
 * @param pcfg the object
 * @param[out] desc_size size in bytes
 * @error RPMA_E_INVAL: pcfg or desc_size is NULL
 * @threads safe
 * @see rpma_peer_cfg_get_descriptor
 */
int rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg* pcfg, size_t* desc_size);

/**
 * @brief make a peer configuration from a descriptor received from the other side
 *
 * Bytes behind the descriptor are ignored. Any byte but 0 means true.
 *
 * @param desc the bytes received, at any alignment
 * @param desc_size how many there are
 * @param[out] pcfg_ptr the new object
 * @error RPMA_E_INVAL: desc or pcfg_ptr is NULL, or desc_size is 0
 * @error RPMA_E_NOMEM: out of memory
 * @threads safe
 * @see rpma_peer_cfg_get_descriptor, rpma_conn_apply_remote_peer_cfg, rpma_peer_cfg_delete
 */
int rpma_peer_cfg_from_descriptor(const void* desc, size_t desc_size,
                                  struct rpma_peer_cfg** pcfg_ptr);

/* ------------------------------------------------------------------ peer */

/** A device in use by the program: protection domain and capabilities. */
struct rpma_peer;

/**
 * @brief create a peer on a device
 *
 * @param ibv_ctx the device context, for example from rpma_utils_get_ibv_context()
 * @param[out] peer_ptr the new object
 * @error RPMA_E_INVAL: ibv_ctx or peer_ptr is NULL
 * @error RPMA_E_NOMEM: out of memory, here or in the device
 * @error RPMA_E_PROVIDER: the device could not be queried or refused a protection domain
 * @error RPMA_E_UNKNOWN: the device refused a protection domain and gave no reason
 * @threads safe
 * @see rpma_peer_delete, rpma_mr_reg, rpma_conn_req_new, rpma_ep_listen, rpma_srq_new
 */
int rpma_peer_new(struct ibv_context* ibv_ctx, struct rpma_peer** peer_ptr);

/**
 * @brief delete a peer
 *
 * Regions, endpoints, requests, connections and shared receive queues of the peer stay usable;
 * the protection domain is freed with the last of them.
 *
 * @param[in,out] peer_ptr the object; NULL afterwards
 * @error RPMA_E_INVAL: peer_ptr is NULL
 * @error RPMA_E_PROVIDER: the device refused to free the protection domain
 * @threads exclusive
 * @see rpma_peer_new
 */
int rpma_peer_delete(struct rpma_peer** peer_ptr);

/* ------------------------------------------------------------------ memory regions */

/** Registered memory of this side. */
struct rpma_mr_local;
/** Registered memory of the other side. */
struct rpma_mr_remote;

/** @name What a region is registered for; values are combined by | @{ */
#define RPMA_MR_USAGE_READ_SRC (1 << 0)              /**< the other side reads from it */
#define RPMA_MR_USAGE_READ_DST (1 << 1)              /**< rpma_read() puts data into it */
#define RPMA_MR_USAGE_WRITE_SRC (1 << 2)             /**< rpma_write() takes data from it */
#define RPMA_MR_USAGE_WRITE_DST (1 << 3)             /**< the other side writes to it */
#define RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY (1 << 4) /**< may be flushed for visibility */
#define RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT (1 << 5) /**< may be flushed for persistence */
#define RPMA_MR_USAGE_SEND (1 << 6)                  /**< messages are sent from it */
#define RPMA_MR_USAGE_RECV (1 << 7)                  /**< messages are received into it */
/** @} */

/**
 * @brief register memory
 *
 * A region may carry any combination of usages, both flush types included. A flush usage also
 * lets the other side read the region. The memory stays the program's own. On a real device the
 * memory is pinned and counts against the limit of locked memory (`ulimit -l`); where that is the
 * likely cause of a failure the log says so. Memory of a DAX file system is registered with
 * on-demand paging if it cannot be pinned and the device has it.
 *
 * @param peer the peer
 * @param ptr start of the memory, at any alignment
 * @param size its size in bytes, not 0
 * @param usage RPMA_MR_USAGE_* values combined by |
 * @param[out] mr_ptr the new region
 * @error RPMA_E_INVAL: peer, ptr or mr_ptr is NULL, size is 0, usage is 0 or has an unknown bit
 * @error RPMA_E_NOMEM: out of memory for the object
 * @error RPMA_E_PROVIDER: the device refused the registration
 * @threads safe
 * @see rpma_mr_dereg, rpma_mr_get_descriptor, rpma_mr_advise
 */
int rpma_mr_reg(struct rpma_peer* peer, void* ptr, size_t size, int usage,
                struct rpma_mr_local** mr_ptr);

/**
 * @brief end the registration of memory
 *
 * No operation that uses the region may be unfinished, neither of this side nor of the other.
 *
 * @param[in,out] mr_ptr the region; NULL afterwards
 * @error RPMA_E_INVAL: mr_ptr is NULL
 * @error RPMA_E_PROVIDER: the device reported an error
 * @threads exclusive
 * @see rpma_mr_reg
 */
int rpma_mr_dereg(struct rpma_mr_local** mr_ptr);

/**
 * @brief write the descriptor of a region, to be sent to the other side
 *
 * The descriptor is 21 bytes, little-endian, without gaps: address (8), size (8), remote key (4),
 * usage (1).
 *
 * @param mr the region
 * @param[out] desc memory of at least rpma_mr_get_descriptor_size() bytes, at any alignment
 * @error RPMA_E_INVAL: mr or desc is NULL
 * @threads safe
 * @see rpma_mr_get_descriptor_size, rpma_mr_remote_from_descriptor
 */
int rpma_mr_get_descriptor(const struct rpma_mr_local* mr, void* desc);

/**
 * @brief make a remote region from a descriptor received from the other side
 *
 * Bytes behind the descriptor are ignored. A descriptor that no honest peer can have made is
 * refused: usage 0, size 0, or an end beyond the 64-bit address space.
 *
 * @param desc the bytes received, at any alignment
 * @param desc_size how many there are
 * @param[out] mr_ptr the new remote region
 * @error RPMA_E_INVAL: desc or mr_ptr is NULL, desc_size is too small, or the content is
 *     impossible
 * @error RPMA_E_NOMEM: out of memory
 * @threads safe
 * @see rpma_mr_get_descriptor, rpma_mr_remote_delete
 */
int rpma_mr_remote_from_descriptor(const void* desc, size_t desc_size,
                                   struct rpma_mr_remote** mr_ptr);

/**
 * @brief give the size of the descriptor of a region
 *
 * @param mr the region
 * @param[out] desc_size size in bytes
 * @error RPMA_E_INVAL: mr or desc_size is NULL
 * @threads safe
 * @see rpma_mr_get_descriptor
 */
int rpma_mr_get_descriptor_size(const struct rpma_mr_local* mr, size_t* desc_size);

/**
 * @brief give the start of the memory of a region
 *
 * @param mr the region
 * @param[out] ptr the address it was registered with
 * @error RPMA_E_INVAL: mr or ptr is NULL
 * @threads safe
 * @see rpma_mr_get_size, rpma_mr_reg
 */
int rpma_mr_get_ptr(const struct rpma_mr_local* mr, void** ptr);

/**
 * @brief give the size of a region
 *
 * @param mr the region
 * @param[out] size size in bytes
 * @error RPMA_E_INVAL: mr or size is NULL
 * @threads safe
 * @see rpma_mr_get_ptr, rpma_mr_reg
 */
int rpma_mr_get_size(const struct rpma_mr_local* mr, size_t* size);

/**
 * @brief give the size of a remote region
 *
 * @param mr the remote region
 * @param[out] size size in bytes
 * @error RPMA_E_INVAL: mr or size is NULL
 * @threads safe
 * @see rpma_mr_remote_from_descriptor
 */
int rpma_mr_remote_get_size(const struct rpma_mr_remote* mr, size_t* size);

/**
 * @brief tell which kinds of flush a remote region takes
 *
 * @param mr the remote region
 * @param[out] flush_type RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY and
 *     RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT combined by |, or 0
 * @error RPMA_E_INVAL: mr or flush_type is NULL
 * @threads safe
 * @see rpma_flush, rpma_mr_remote_from_descriptor
 */
int rpma_mr_remote_get_flush_type(const struct rpma_mr_remote* mr, int* flush_type);

/**
 * @brief delete a remote region
 *
 * The other side's registration is not touched.
 *
 * @param[in,out] mr_ptr the remote region; NULL afterwards
 * @error RPMA_E_INVAL: mr_ptr is NULL
 * @threads exclusive
 * @see rpma_mr_remote_from_descriptor
 */
int rpma_mr_remote_delete(struct rpma_mr_remote** mr_ptr);

/**
 * @brief advise the device how a part of a region is going to be used
 *
 * For regions registered with on-demand paging; see ibv_advise_mr(3) for advice and flags. A
 * failure costs speed only. A long part is passed to the device in pieces; if one fails, those
 * before it have been advised.
 *
 * @param mr the region
 * @param offset start of the part in the region
 * @param len its length in bytes
 * @param advice an enum ib_uverbs_advise_mr_advice value
 * @param flags enum ib_uverbs_advise_mr_flag values
 * @error RPMA_E_INVAL: mr is NULL, the part is not inside the region, unknown advice or flags
 * @error RPMA_E_NOSUPP: the device does not take advice
 * @error RPMA_E_PROVIDER: the device reported another error
 * @threads safe
 * @see rpma_mr_reg
 */
int rpma_mr_advise(struct rpma_mr_local* mr, size_t offset, size_t len, int advice, uint32_t flags);

/* ------------------------------------------------------------------ connection configuration */

/** How a connection is to be made. */
struct rpma_conn_cfg;
/** A receive queue shared by connections. */
struct rpma_srq;

/**
 * @brief create a connection configuration
 *
 * Defaults: timeout RPMA_DEFAULT_TIMEOUT_MS; completion queue, send queue and receive queue of 10
 * entries each; no receive completion queue; completion channel not shared; no shared receive
 * queue. A configuration is read when a request is made from it; later changes touch later
 * requests only.
 *
 * @param[out] cfg_ptr the new object
 * @error RPMA_E_INVAL: cfg_ptr is NULL
 * @error RPMA_E_NOMEM: out of memory
 * @threads safe
 * @see rpma_conn_cfg_delete, rpma_conn_req_new, rpma_ep_next_conn_req
 */
int rpma_conn_cfg_new(struct rpma_conn_cfg** cfg_ptr);

/**
 * @brief delete a connection configuration
 *
 * @param[in,out] cfg_ptr the object; NULL afterwards
 * @error RPMA_E_INVAL: cfg_ptr is NULL
 * @error RPMA_E_PROVIDER: it was the last user of a deleted shared receive queue, and that could
 *     not be destroyed
 * @threads exclusive
 * @see rpma_conn_cfg_new
 */
int rpma_conn_cfg_delete(struct rpma_conn_cfg** cfg_ptr);

/**
 * @brief set the time limit for resolving address and route
 *
 * It counts once for the address and once for the route, so rpma_conn_req_new() may take twice as
 * long. It does not limit the look-up of a name nor the connecting that follows.
 *
 * @param cfg the object
 * @param timeout_ms milliseconds, not negative
 * @error RPMA_E_INVAL: cfg is NULL or timeout_ms is negative
 * @threads safe
 * @see rpma_conn_cfg_get_timeout, rpma_conn_req_new
 */
int rpma_conn_cfg_set_timeout(struct rpma_conn_cfg* cfg, int timeout_ms);

/**
 * @brief get the time limit for resolving address and route
 *
 * @param cfg the object
 * @param[out] timeout_ms milliseconds
 * @error RPMA_E_INVAL: cfg or timeout_ms is NULL
 * @threads safe
 * @see rpma_conn_cfg_set_timeout
 */
int rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg* cfg, int* timeout_ms);

/**
 * @brief set the size of the completion queue
 *
 * It should hold every completion that can be due at the same time: those of the send queue and,
 * unless there is a receive completion queue, those of the receive queue.
 *
 * @param cfg the object
 * @param cq_size number of entries; above INT_MAX it counts as INT_MAX
 * @error RPMA_E_INVAL: cfg is NULL
 * @threads safe
 * @see rpma_conn_cfg_get_cq_size, rpma_conn_cfg_set_rcq_size
 */
int rpma_conn_cfg_set_cq_size(struct rpma_conn_cfg* cfg, uint32_t cq_size);

/**
 * @brief get the size of the completion queue
 *
 * @param cfg the object
 * @param[out] cq_size number of entries
 * @error RPMA_E_INVAL: cfg or cq_size is NULL
 * @threads safe
 * @see rpma_conn_cfg_set_cq_size
 */
int rpma_conn_cfg_get_cq_size(const struct rpma_conn_cfg* cfg, uint32_t* cq_size);

/**
 * @brief set the size of the receive completion queue
 *
 * 0 means that there is none and that receives complete in the completion queue. With a shared
 * receive queue that has a receive completion queue of its own the value is ignored.
 *
 * @param cfg the object
 * @param rcq_size number of entries or 0; above INT_MAX it counts as INT_MAX
 * @error RPMA_E_INVAL: cfg is NULL
 * @threads safe
 * @see rpma_conn_cfg_get_rcq_size, rpma_conn_get_rcq
 */
int rpma_conn_cfg_set_rcq_size(struct rpma_conn_cfg* cfg, uint32_t rcq_size);

/**
 * @brief get the size of the receive completion queue
 *
 * @param cfg the object
 * @param[out] rcq_size number of entries or 0
 * @error RPMA_E_INVAL: cfg or rcq_size is NULL
 * @threads safe
 * @see rpma_conn_cfg_set_rcq_size
 */
int rpma_conn_cfg_get_rcq_size(const struct rpma_conn_cfg* cfg, uint32_t* rcq_size);

/**
 * @brief choose whether both completion queues use one completion channel
 *
 * With a shared channel rpma_conn_wait() waits for both queues at once; without it rpma_cq_wait()
 * waits for each. It cannot be combined with a shared receive queue that has a receive completion
 * queue of its own.
 *
 * @param cfg the object
 * @param shared true: one channel for both
 * @error RPMA_E_INVAL: cfg is NULL
 * @threads safe
 * @see rpma_conn_cfg_get_compl_channel, rpma_conn_wait, rpma_conn_get_compl_fd
 */
int rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg* cfg, bool shared);

/**
 * @brief tell whether both completion queues use one completion channel
 *
 * @param cfg the object
 * @param[out] shared true: one channel for both
 * @error RPMA_E_INVAL: cfg or shared is NULL
 * @threads safe
 * @see rpma_conn_cfg_set_compl_channel
 */
int rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg* cfg, bool* shared);

/**
 * @brief set the size of the send queue
 *
 * As many operations (reads, writes, sends, flushes, atomic writes) can be unfinished at a time.
 *
 * @param cfg the object
 * @param sq_size number of entries
 * @error RPMA_E_INVAL: cfg is NULL
 * @threads safe
 * @see rpma_conn_cfg_get_sq_size
 */
int rpma_conn_cfg_set_sq_size(struct rpma_conn_cfg* cfg, uint32_t sq_size);

/**
 * @brief get the size of the send queue
 *
 * @param cfg the object
 * @param[out] sq_size number of entries
 * @error RPMA_E_INVAL: cfg or sq_size is NULL
 * @threads safe
 * @see rpma_conn_cfg_set_sq_size
 */
int rpma_conn_cfg_get_sq_size(const struct rpma_conn_cfg* cfg, uint32_t* sq_size);

/**
 * @brief set the size of the receive queue
 *
 * @param cfg the object
 * @param rq_size number of entries
 * @error RPMA_E_INVAL: cfg is NULL
 * @threads safe
 * @see rpma_conn_cfg_get_rq_size
 */
int rpma_conn_cfg_set_rq_size(struct rpma_conn_cfg* cfg, uint32_t rq_size);

/**
 * @brief get the size of the receive queue
 *
 * @param cfg the object
 * @param[out] rq_size number of entries
 * @error RPMA_E_INVAL: cfg or rq_size is NULL
 * @threads safe
 * @see rpma_conn_cfg_set_rq_size
 */
int rpma_conn_cfg_get_rq_size(const struct rpma_conn_cfg* cfg, uint32_t* rq_size);

/**
 * @brief choose a shared receive queue
 *
 * It cannot be taken out again; make another configuration instead. The configuration keeps the
 * shared receive queue alive.
 *
 * @param cfg the object
 * @param srq the shared receive queue
 * @error RPMA_E_INVAL: cfg or srq is NULL
 * @threads safe
 * @see rpma_conn_cfg_get_srq, rpma_srq_new
 */
int rpma_conn_cfg_set_srq(struct rpma_conn_cfg* cfg, struct rpma_srq* srq);

/**
 * @brief get the shared receive queue
 *
 * @param cfg the object
 * @param[out] srq_ptr the shared receive queue, NULL if there is none
 * @error RPMA_E_INVAL: cfg or srq_ptr is NULL
 * @threads safe
 * @see rpma_conn_cfg_set_srq
 */
int rpma_conn_cfg_get_srq(const struct rpma_conn_cfg* cfg, struct rpma_srq** srq_ptr);

/* ------------------------------------------------------------------ connection */

/** A connection to another peer. */
struct rpma_conn;
/** A completion queue. */
struct rpma_cq;

/** What rpma_conn_next_event() reports. */
enum rpma_conn_event {
    RPMA_CONN_UNDEFINED = -1, /**< never reported */
    RPMA_CONN_ESTABLISHED,    /**< connected */
    RPMA_CONN_CLOSED,         /**< disconnected by either side */
    RPMA_CONN_LOST,           /**< broken */
    RPMA_CONN_REJECTED,       /**< refused by the other side, or nobody listens there */
    RPMA_CONN_UNREACHABLE     /**< the other side did not answer */
};

/** Data that travel with connecting. */
struct rpma_conn_private_data {
    void* ptr;   /**< start of the data */
    uint8_t len; /**< length in bytes */
};

/**
 * @brief get the descriptor that becomes readable when a connection has an event
 *
 * It may be given to poll(2) and epoll(7) and may be made non-blocking; rpma_conn_next_event()
 * then returns RPMA_E_NO_EVENT where there is none. It must not be closed.
 *
 * @param conn the connection
 * @param[out] fd the file descriptor
 * @error RPMA_E_INVAL: conn or fd is NULL
 * @threads safe
 * @see rpma_conn_next_event
 */
int rpma_conn_get_event_fd(const struct rpma_conn* conn, int* fd);

/**
 * @brief take the next event of a connection, wait for it if there is none
 *
 * RPMA_E_NO_EVENT means that there is none yet: the descriptor is non-blocking and empty (errno
 * EAGAIN), the wait was interrupted by a signal (errno EINTR), or what arrived was only the end
 * of a connection whose closing has been reported already. The cause behind an event is in the
 * log (level notice).
 *
 * @param conn the connection
 * @param[out] event the event
 * @error RPMA_E_INVAL: conn or event is NULL
 * @error RPMA_E_NO_EVENT: no event yet
 * @error RPMA_E_UNKNOWN: an event that has no counterpart here; it has been taken
 * @error RPMA_E_PROVIDER: the event could not be taken
 * @threads safe
 * @see rpma_conn_get_event_fd, rpma_conn_get_private_data, rpma_utils_conn_event_2str
 */
int rpma_conn_next_event(struct rpma_conn* conn, enum rpma_conn_event* event);

/**
 * @brief give the name of a connection event
 *
 * @param conn_event the event
 * @return a constant string
 * @threads safe
 * @see rpma_conn_next_event, rpma_err_2str
 */
const char* rpma_utils_conn_event_2str(enum rpma_conn_event conn_event);

/**
 * @brief get the private data that the other side sent
 *
 * On the side that was connected to it is the data of the request; on the connecting side that of
 * the answer, from the RPMA_CONN_ESTABLISHED event on. NULL and 0 if none came. On InfiniBand and
 * RoCE the length is not the one sent: the data are filled with zeros up to 56 bytes (request) or
 * 196 bytes (answer), also when the other side sent none. Carry a length or a magic number of
 * your own. The data belong to the connection and are aligned for any type.
 *
 * @param conn the connection
 * @param[out] pdata the data
 * @error RPMA_E_INVAL: conn or pdata is NULL
 * @threads safe
 * @see rpma_conn_req_get_private_data, rpma_conn_req_connect
 */
int rpma_conn_get_private_data(const struct rpma_conn* conn, struct rpma_conn_private_data* pdata);

/**
 * @brief tell a connection what the other side declared about itself
 *
 * Needed before the first flush of type RPMA_FLUSH_TYPE_PERSISTENT. It may be repeated.
 *
 * @param conn the connection
 * @param pcfg the other side's configuration; it is copied
 * @error RPMA_E_INVAL: conn or pcfg is NULL
 * @threads safe
 * @see rpma_peer_cfg_from_descriptor, rpma_flush
 */
int rpma_conn_apply_remote_peer_cfg(struct rpma_conn* conn, const struct rpma_peer_cfg* pcfg);

/**
 * @brief get the number of the queue pair of a connection
 *
 * It equals qp_num in the completions of the connection, which tells connections of a shared
 * receive queue apart.
 *
 * @param conn the connection
 * @param[out] qp_num the number
 * @error RPMA_E_INVAL: conn or qp_num is NULL
 * @threads safe
 * @see rpma_cq_get_wc
 */
int rpma_conn_get_qp_num(const struct rpma_conn* conn, uint32_t* qp_num);

/**
 * @brief get the completion queue of a connection
 *
 * @param conn the connection
 * @param[out] cq_ptr the queue; it belongs to the connection
 * @error RPMA_E_INVAL: conn or cq_ptr is NULL
 * @threads safe
 * @see rpma_conn_get_rcq, rpma_cq_wait, rpma_cq_get_wc
 */
int rpma_conn_get_cq(const struct rpma_conn* conn, struct rpma_cq** cq_ptr);

/**
 * @brief get the receive completion queue of a connection
 *
 * @param conn the connection
 * @param[out] rcq_ptr the queue, which belongs to the connection, or NULL if it has none of its
 *     own
 * @error RPMA_E_INVAL: conn or rcq_ptr is NULL
 * @threads safe
 * @see rpma_conn_cfg_set_rcq_size, rpma_srq_get_rcq
 */
int rpma_conn_get_rcq(const struct rpma_conn* conn, struct rpma_cq** rcq_ptr);

/**
 * @brief begin to disconnect
 *
 * Both sides get RPMA_CONN_CLOSED: the other side at once, this side when the other side has
 * answered by disconnecting or deleting its connection, too. Without an answer it takes until the
 * device gives up asking, on RoCE and InfiniBand about a minute. Either side may call it, both may,
 * and it may come after that event.
 *
 * @param conn the connection
 * @error RPMA_E_INVAL: conn is NULL
 * @error RPMA_E_PROVIDER: disconnecting failed
 * @threads safe
 * @see rpma_conn_next_event, rpma_conn_delete
 */
int rpma_conn_disconnect(struct rpma_conn* conn);

/**
 * @brief delete a connection
 *
 * The queues, the private data and the descriptors of the connection go with it.
 *
 * @param[in,out] conn_ptr the connection; NULL afterwards
 * @error RPMA_E_INVAL: conn_ptr is NULL
 * @error RPMA_E_PROVIDER: something of it could not be destroyed; the rest is gone
 * @threads exclusive
 * @see rpma_conn_disconnect
 */
int rpma_conn_delete(struct rpma_conn** conn_ptr);

/**
 * @brief get the descriptor of the completion channel shared by the queues of a connection
 *
 * @param conn the connection
 * @param[out] fd the file descriptor; it must not be closed
 * @error RPMA_E_INVAL: conn or fd is NULL
 * @error RPMA_E_NOT_SHARED_CHNL: the connection was made without a shared channel
 * @threads safe
 * @see rpma_conn_cfg_set_compl_channel, rpma_conn_wait
 */
int rpma_conn_get_compl_fd(const struct rpma_conn* conn, int* fd);

/**
 * @brief wait for completions in either queue of a connection with a shared completion channel
 *
 * Collect all completions of the queue after each wait, in a loop, until RPMA_E_NO_COMPLETION; a
 * later wait may nevertheless return for a queue that is empty already.
 *
 * @param conn the connection
 * @param flags ignored
 * @param[out] cq the queue to be emptied
 * @param[out] is_rcq whether it is the receive completion queue; may be NULL
 * @error RPMA_E_INVAL: conn or cq is NULL
 * @error RPMA_E_NOT_SHARED_CHNL: the connection was made without a shared channel
 * @error RPMA_E_NO_COMPLETION: nothing yet: the descriptor is non-blocking and empty (errno
 *     EAGAIN), a signal came (errno EINTR), or waiting failed, which is logged
 * @error RPMA_E_UNKNOWN: an event of a queue that is not the connection's; it has been taken
 * @error RPMA_E_PROVIDER: the queue could not be armed again; *cq is NULL and *is_rcq tells which
 * @threads safe
 * @see rpma_conn_cfg_set_compl_channel, rpma_cq_get_wc
 */
int rpma_conn_wait(struct rpma_conn* conn, int flags, struct rpma_cq** cq, bool* is_rcq);

/* ------------------------------------------------------------------ connection request */

/** A connection that is being prepared. */
struct rpma_conn_req;

/**
 * @brief prepare a connection to another peer
 *
 * Resolves the address and makes the queues. Nobody needs to listen yet. All addresses of a name
 * are tried in turn.
 *
 * @param peer the peer
 * @param addr address or host name
 * @param port port number or service name
 * @param cfg configuration; NULL for the defaults
 * @param[out] req_ptr the new request
 * @error RPMA_E_INVAL: peer, addr, port or req_ptr is NULL, or cfg asks for a shared completion
 *     channel together with a shared receive queue that has a receive completion queue
 * @error RPMA_E_NOMEM: out of memory
 * @error RPMA_E_PROVIDER: the address could not be resolved, or a queue could not be made
 * @threads safe
 * @see rpma_conn_req_connect, rpma_conn_req_delete, rpma_conn_req_recv
 */
int rpma_conn_req_new(struct rpma_peer* peer, const char* addr, const char* port,
                      const struct rpma_conn_cfg* cfg, struct rpma_conn_req** req_ptr);

/**
 * @brief delete a request instead of connecting
 *
 * The other side of an incoming request gets RPMA_CONN_REJECTED.
 *
 * @param[in,out] req_ptr the request; NULL afterwards
 * @error RPMA_E_INVAL: req_ptr is NULL
 * @error RPMA_E_PROVIDER: rejecting failed, or something could not be destroyed; the rest is gone
 * @threads exclusive
 * @see rpma_conn_req_new, rpma_ep_next_conn_req
 */
int rpma_conn_req_delete(struct rpma_conn_req** req_ptr);

/**
 * @brief connect (outgoing request) or accept (incoming request)
 *
 * The request is consumed, whatever the result: it must not be deleted afterwards, and *req_ptr
 * is NULL. Only where req_ptr or *req_ptr is NULL there is nothing to consume. If an incoming
 * request fails the other side gets RPMA_CONN_REJECTED. A connection is usable from the event
 * RPMA_CONN_ESTABLISHED on.
 *
 * Private data may have up to 56 bytes in an outgoing and 196 bytes in an incoming request on
 * InfiniBand and RoCE; more is refused. They may be reused when the call has returned.
 *
 * @param[in,out] req_ptr the request; NULL afterwards
 * @param pdata data for the other side; NULL for none, else neither its ptr nor its len may be 0
 * @param[out] conn_ptr the new connection
 * @error RPMA_E_INVAL: req_ptr, *req_ptr or conn_ptr is NULL, or pdata has ptr NULL or len 0
 * @error RPMA_E_NOMEM: out of memory
 * @error RPMA_E_PROVIDER: connecting or accepting failed
 * @threads exclusive
 * @see rpma_conn_next_event, rpma_conn_req_new, rpma_ep_next_conn_req
 */
int rpma_conn_req_connect(struct rpma_conn_req** req_ptr,
                          const struct rpma_conn_private_data* pdata, struct rpma_conn** conn_ptr);

/**
 * @brief post a receive before the connection is made
 *
 * So that the other side may send as soon as it sees the connection established. Not for requests
 * with a shared receive queue.
 *
 * @param req the request
 * @param dst the region to receive into; not NULL
 * @param offset where in the region
 * @param len how many bytes at most
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: req or dst is NULL, or the part is not inside the region or is 4 GiB or
 *     longer
 * @error RPMA_E_AGAIN: the receive queue is full
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_recv
 */
int rpma_conn_req_recv(struct rpma_conn_req* req, struct rpma_mr_local* dst, size_t offset,
                       size_t len, const void* op_context);

/**
 * @brief get the private data of an incoming request before accepting it
 *
 * The same bytes, at the same address, are later those of the connection. See
 * rpma_conn_get_private_data() about their length.
 *
 * @param req the request
 * @param[out] pdata the data; NULL and 0 if none came or the request is an outgoing one
 * @error RPMA_E_INVAL: req or pdata is NULL
 * @threads safe
 * @see rpma_conn_get_private_data
 */
int rpma_conn_req_get_private_data(const struct rpma_conn_req* req,
                                   struct rpma_conn_private_data* pdata);

/* ------------------------------------------------------------------ endpoint */

/** A listening endpoint. */
struct rpma_ep;

/**
 * @brief listen for incoming connection requests
 *
 * @param peer the peer
 * @param addr address or host name of this machine; 0.0.0.0 or :: for all
 * @param port port number or service name
 * @param[out] ep_ptr the new endpoint
 * @error RPMA_E_INVAL: peer, addr, port or ep_ptr is NULL
 * @error RPMA_E_NOMEM: out of memory
 * @error RPMA_E_PROVIDER: the address was not understood, is not this machine's, or is in use
 * @threads safe
 * @see rpma_ep_next_conn_req, rpma_ep_shutdown
 */
int rpma_ep_listen(struct rpma_peer* peer, const char* addr, const char* port,
                   struct rpma_ep** ep_ptr);

/**
 * @brief stop listening
 *
 * Requests taken from the endpoint stay usable. Requests that nobody took are rejected.
 *
 * @param[in,out] ep_ptr the endpoint; NULL afterwards
 * @error RPMA_E_INVAL: ep_ptr is NULL
 * @error RPMA_E_PROVIDER: something could not be destroyed; the rest is gone
 * @threads exclusive
 * @see rpma_ep_listen
 */
int rpma_ep_shutdown(struct rpma_ep** ep_ptr);

/**
 * @brief get the descriptor that becomes readable when a request has come
 *
 * It may be given to poll(2) and epoll(7) and may be made non-blocking; rpma_ep_next_conn_req()
 * then returns RPMA_E_NO_EVENT where there is none. It must not be closed.
 *
 * @param ep the endpoint
 * @param[out] fd the file descriptor
 * @error RPMA_E_INVAL: ep or fd is NULL
 * @threads safe
 * @see rpma_ep_next_conn_req
 */
int rpma_ep_get_fd(const struct rpma_ep* ep, int* fd);

/**
 * @brief take the next incoming request, wait for it if there is none
 *
 * If the call fails after a request came, that request has been rejected and the next call takes
 * the next one.
 *
 * @param ep the endpoint
 * @param cfg configuration of the connection; NULL for the defaults
 * @param[out] req_ptr the new request
 * @error RPMA_E_INVAL: ep or req_ptr is NULL, an event that is no request came (it has been
 *     taken), or cfg asks for a shared completion channel together with a shared receive queue
 *     that has a receive completion queue
 * @error RPMA_E_NO_EVENT: no request yet: the descriptor is non-blocking and empty (errno EAGAIN)
 *     or a signal came (errno EINTR)
 * @error RPMA_E_NOMEM: out of memory
 * @error RPMA_E_PROVIDER: the event could not be taken, or a queue could not be made
 * @threads safe
 * @see rpma_ep_get_fd, rpma_conn_req_connect, rpma_conn_req_delete
 */
int rpma_ep_next_conn_req(struct rpma_ep* ep, const struct rpma_conn_cfg* cfg,
                          struct rpma_conn_req** req_ptr);

/* ------------------------------------------------------------------ shared receive queue */

/** How a shared receive queue is to be made. */
struct rpma_srq_cfg;

/**
 * @brief create a configuration of a shared receive queue
 *
 * Defaults: receive queue and receive completion queue of 20 entries each.
 *
 * @param[out] cfg_ptr the new object
 * @error RPMA_E_INVAL: cfg_ptr is NULL
 * @error RPMA_E_NOMEM: out of memory
 * @threads safe
 * @see rpma_srq_cfg_delete, rpma_srq_new
 */
int rpma_srq_cfg_new(struct rpma_srq_cfg** cfg_ptr);

/**
 * @brief delete a configuration of a shared receive queue
 *
 * @param[in,out] cfg_ptr the object; NULL afterwards
 * @error RPMA_E_INVAL: cfg_ptr is NULL
 * @threads exclusive
 * @see rpma_srq_cfg_new
 */
int rpma_srq_cfg_delete(struct rpma_srq_cfg** cfg_ptr);

/**
 * @brief set the size of the shared receive queue
 *
 * @param cfg the object
 * @param rq_size number of entries
 * @error RPMA_E_INVAL: cfg is NULL
 * @threads safe
 * @see rpma_srq_cfg_get_rq_size
 */
int rpma_srq_cfg_set_rq_size(struct rpma_srq_cfg* cfg, uint32_t rq_size);

/**
 * @brief get the size of the shared receive queue
 *
 * @param cfg the object
 * @param[out] rq_size number of entries
 * @error RPMA_E_INVAL: cfg or rq_size is NULL
 * @threads safe
 * @see rpma_srq_cfg_set_rq_size
 */
int rpma_srq_cfg_get_rq_size(const struct rpma_srq_cfg* cfg, uint32_t* rq_size);

/**
 * @brief set the size of the receive completion queue of the shared receive queue
 *
 * 0 means that there is none and that receives complete in the queues of the connections.
 *
 * @param cfg the object
 * @param rcq_size number of entries or 0; above INT_MAX it counts as INT_MAX
 * @error RPMA_E_INVAL: cfg is NULL
 * @threads safe
 * @see rpma_srq_cfg_get_rcq_size, rpma_srq_get_rcq
 */
int rpma_srq_cfg_set_rcq_size(struct rpma_srq_cfg* cfg, uint32_t rcq_size);

/**
 * @brief get the size of the receive completion queue of the shared receive queue
 *
 * @param cfg the object
 * @param[out] rcq_size number of entries or 0
 * @error RPMA_E_INVAL: cfg or rcq_size is NULL
 * @threads safe
 * @see rpma_srq_cfg_set_rcq_size
 */
int rpma_srq_cfg_get_rcq_size(const struct rpma_srq_cfg* cfg, uint32_t* rcq_size);

/**
 * @brief create a shared receive queue
 *
 * @param peer the peer
 * @param cfg configuration; NULL for the defaults
 * @param[out] srq_ptr the new object
 * @error RPMA_E_INVAL: peer or srq_ptr is NULL
 * @error RPMA_E_NOMEM: out of memory
 * @error RPMA_E_PROVIDER: a queue could not be made
 * @threads safe
 * @see rpma_srq_delete, rpma_conn_cfg_set_srq, rpma_srq_recv
 */
int rpma_srq_new(struct rpma_peer* peer, struct rpma_srq_cfg* cfg, struct rpma_srq** srq_ptr);

/**
 * @brief delete a shared receive queue
 *
 * Configurations, requests and connections that use it keep working; the queue and its receive
 * completion queue go with the last of them.
 *
 * @param[in,out] srq_ptr the object; NULL afterwards
 * @error RPMA_E_INVAL: srq_ptr is NULL
 * @error RPMA_E_PROVIDER: something could not be destroyed; the rest is gone
 * @threads exclusive
 * @see rpma_srq_new
 */
int rpma_srq_delete(struct rpma_srq** srq_ptr);

/**
 * @brief post a receive to a shared receive queue
 *
 * With dst NULL and offset and len 0 it takes an empty message.
 *
 * @param srq the shared receive queue
 * @param dst the region to receive into, or NULL
 * @param offset where in the region
 * @param len how many bytes at most
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: srq is NULL, dst is NULL with offset or len not 0, or the part is not
 *     inside the region or is 4 GiB or longer
 * @error RPMA_E_AGAIN: the receive queue is full
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_srq_get_rcq, rpma_recv
 */
int rpma_srq_recv(struct rpma_srq* srq, struct rpma_mr_local* dst, size_t offset, size_t len,
                  const void* op_context);

/**
 * @brief get the receive completion queue of a shared receive queue
 *
 * @param srq the shared receive queue
 * @param[out] rcq_ptr the queue, which belongs to srq, or NULL if there is none
 * @error RPMA_E_INVAL: srq or rcq_ptr is NULL
 * @threads safe
 * @see rpma_srq_cfg_set_rcq_size, rpma_cq_get_wc
 */
int rpma_srq_get_rcq(const struct rpma_srq* srq, struct rpma_cq** rcq_ptr);

/* ------------------------------------------------------------------ operations */

/** @name When an operation makes a completion @{ */
#define RPMA_F_COMPLETION_ON_ERROR (1 << 0)                            /**< if it fails */
#define RPMA_F_COMPLETION_ALWAYS (1 << 1 | RPMA_F_COMPLETION_ON_ERROR) /**< always */
/** @} */

/** Alignment in bytes of the destination of rpma_atomic_write(). */
#define RPMA_ATOMIC_WRITE_ALIGNMENT 8

/** What a flush guarantees. */
enum rpma_flush_type {
    RPMA_FLUSH_TYPE_PERSISTENT, /**< earlier writes survive a power failure of the other side */
    RPMA_FLUSH_TYPE_VISIBILITY  /**< earlier writes are seen by the other side's CPU */
};

/**
 * @brief read from a remote region into a local one
 *
 * With src and dst NULL and all numbers 0 it is an operation of zero bytes.
 *
 * @param conn the connection
 * @param dst local region, or NULL
 * @param dst_offset where in dst
 * @param src remote region, or NULL
 * @param src_offset where in src
 * @param len number of bytes, below 4 GiB
 * @param flags RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: conn is NULL, flags is 0, one of src and dst is NULL, both are with a
 *     number not 0, a part is not inside its region or is 4 GiB or longer, or a region was not
 *     registered for it
 * @error RPMA_E_AGAIN: the send queue is full; collect completions and try again
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_write, rpma_cq_get_wc
 */
int rpma_read(struct rpma_conn* conn, struct rpma_mr_local* dst, size_t dst_offset,
              const struct rpma_mr_remote* src, size_t src_offset, size_t len, int flags,
              const void* op_context);

/**
 * @brief write from a local region into a remote one
 *
 * Its completion tells that the other side's adapter has the data: neither that they are visible
 * nor that they are durable. For that, flush. The source must not be changed before the
 * completion. With src and dst NULL and all numbers 0 it is an operation of zero bytes.
 *
 * @param conn the connection
 * @param dst remote region, or NULL
 * @param dst_offset where in dst
 * @param src local region, or NULL
 * @param src_offset where in src
 * @param len number of bytes, below 4 GiB
 * @param flags RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: conn is NULL, flags is 0, one of src and dst is NULL, both are with a
 *     number not 0, a part is not inside its region or is 4 GiB or longer, or dst was not
 *     registered for it
 * @error RPMA_E_AGAIN: the send queue is full; collect completions and try again
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_flush, rpma_atomic_write, rpma_write_with_imm, rpma_read, rpma_cq_get_wc
 */
int rpma_write(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset,
               const struct rpma_mr_local* src, size_t src_offset, size_t len, int flags,
               const void* op_context);

/**
 * @brief write and tell the other side by a 32-bit value
 *
 * As rpma_write(); it also consumes a receive of the other side, whose completion has the flag
 * IBV_WC_WITH_IMM and imm_data in network byte order (use ntohl).
 *
 * @param conn the connection
 * @param dst remote region, or NULL
 * @param dst_offset where in dst
 * @param src local region, or NULL
 * @param src_offset where in src
 * @param len number of bytes, below 4 GiB
 * @param flags RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS
 * @param imm the value, in host byte order
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: as rpma_write()
 * @error RPMA_E_AGAIN: the send queue is full; collect completions and try again
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_write, rpma_recv, rpma_send_with_imm
 */
int rpma_write_with_imm(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset,
                        const struct rpma_mr_local* src, size_t src_offset, size_t len, int flags,
                        uint32_t imm, const void* op_context);

/**
 * @brief write 8 bytes that are seen all or not at all
 *
 * It is executed behind all flushes posted earlier on the connection, so a commit word written by
 * it never overtakes data that were flushed before it. src is copied before the call returns. It
 * is no compare-and-swap, and needs a flush of its own to become durable.
 *
 * @param conn the connection
 * @param dst remote region
 * @param dst_offset where in dst; the remote address must be a multiple of 8
 * @param src the 8 bytes
 * @param flags RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: conn, dst or src is NULL, flags is 0, dst_offset or the remote address is
 *     no multiple of RPMA_ATOMIC_WRITE_ALIGNMENT, the 8 bytes are not inside dst, or dst was not
 *     registered for it
 * @error RPMA_E_AGAIN: the send queue is full; collect completions and try again
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_write, rpma_flush
 */
int rpma_atomic_write(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset,
                      const char src[8], int flags, const void* op_context);

/**
 * @brief make earlier writes visible or durable
 *
 * When the flush has completed, what was written to the range by earlier operations of the
 * connection is visible to the other side's CPU, or durable. Where the device can, it is a native
 * flush; else it is a read of up to 8 bytes inside the region, which pushes out all earlier
 * writes of the connection. A native flush needs a device on the other side that knows it, too; one
 * that does not ends the connection, and the flush completes with IBV_WC_REM_INV_REQ_ERR.
 * RPMA_FLUSH_TYPE_PERSISTENT needs the other side's declaration
 * (rpma_conn_apply_remote_peer_cfg()). A plain write posted behind a flush may overtake it: wait
 * for the completion of the flush, or use rpma_atomic_write().
 *
 * @param conn the connection
 * @param dst remote region; it must have been registered for the type of flush
 * @param dst_offset start of the range in dst
 * @param len length of the range in bytes
 * @param type what is to be guaranteed
 * @param flags RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: conn or dst is NULL, flags is 0, type is unknown, or the range is not
 *     inside dst
 * @error RPMA_E_NOSUPP: dst was not registered for the type, or the type is persistent and the
 *     other side has not declared direct write to persistent memory
 * @error RPMA_E_AGAIN: the send queue is full; collect completions and try again
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_write, rpma_conn_apply_remote_peer_cfg, rpma_mr_remote_get_flush_type
 */
int rpma_flush(struct rpma_conn* conn, struct rpma_mr_remote* dst, size_t dst_offset, size_t len,
               enum rpma_flush_type type, int flags, const void* op_context);

/**
 * @brief send a message
 *
 * It consumes a receive of the other side and waits, without limit, until there is one. With src
 * NULL and offset and len 0 the message is empty.
 *
 * @param conn the connection
 * @param src local region, or NULL
 * @param offset where in src
 * @param len number of bytes, below 4 GiB
 * @param flags RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: conn is NULL, flags is 0, src is NULL with offset or len not 0, or the
 *     part is not inside the region or is 4 GiB or longer
 * @error RPMA_E_AGAIN: the send queue is full; collect completions and try again
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_recv, rpma_send_with_imm
 */
int rpma_send(struct rpma_conn* conn, const struct rpma_mr_local* src, size_t offset, size_t len,
              int flags, const void* op_context);

/**
 * @brief send a message with a 32-bit value
 *
 * As rpma_send(); the completion of the receive has the flag IBV_WC_WITH_IMM and imm_data in
 * network byte order (use ntohl).
 *
 * @param conn the connection
 * @param src local region, or NULL
 * @param offset where in src
 * @param len number of bytes, below 4 GiB
 * @param flags RPMA_F_COMPLETION_ON_ERROR or RPMA_F_COMPLETION_ALWAYS
 * @param imm the value, in host byte order
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: as rpma_send()
 * @error RPMA_E_AGAIN: the send queue is full; collect completions and try again
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_send, rpma_recv
 */
int rpma_send_with_imm(struct rpma_conn* conn, const struct rpma_mr_local* src, size_t offset,
                       size_t len, int flags, uint32_t imm, const void* op_context);

/**
 * @brief post a receive
 *
 * It takes one message, or the notice of one rpma_write_with_imm(). Its completion is always made
 * and tells the length (byte_len). With dst NULL and offset and len 0 it takes an empty message.
 * Not for connections with a shared receive queue.
 *
 * @param conn the connection
 * @param dst the region to receive into, or NULL
 * @param offset where in the region
 * @param len how many bytes at most, below 4 GiB
 * @param op_context comes back as wr_id of the completion; may be NULL
 * @error RPMA_E_INVAL: conn is NULL, dst is NULL with offset or len not 0, or the part is not
 *     inside the region or is 4 GiB or longer
 * @error RPMA_E_AGAIN: the receive queue is full
 * @error RPMA_E_PROVIDER: posting failed
 * @threads safe
 * @see rpma_send, rpma_conn_req_recv, rpma_srq_recv, rpma_cq_get_wc
 */
int rpma_recv(struct rpma_conn* conn, struct rpma_mr_local* dst, size_t offset, size_t len,
              const void* op_context);

/* ------------------------------------------------------------------ completions */

/**
 * @brief get the descriptor that becomes readable when a completion queue has something
 *
 * It may be given to poll(2) and epoll(7) and may be made non-blocking. When it is readable, call
 * rpma_cq_wait() (rpma_conn_wait() if the channel is shared) first, then collect. It must not be
 * closed.
 *
 * @param cq the completion queue
 * @param[out] fd the file descriptor
 * @error RPMA_E_INVAL: cq or fd is NULL
 * @threads safe
 * @see rpma_cq_wait
 */
int rpma_cq_get_fd(const struct rpma_cq* cq, int* fd);

/**
 * @brief wait for completions in a queue
 *
 * Collect all completions after each wait, in a loop, until RPMA_E_NO_COMPLETION: what has not
 * been collected makes no further event. A wait may return although the queue is empty already;
 * that is no fault either, wait again.
 *
 * @param cq the completion queue
 * @error RPMA_E_INVAL: cq is NULL
 * @error RPMA_E_NO_COMPLETION: nothing yet: the descriptor is non-blocking and empty (errno
 *     EAGAIN), a signal came (errno EINTR), or waiting failed, which is logged
 * @error RPMA_E_PROVIDER: the queue could not be armed again
 * @error RPMA_E_SHARED_CHANNEL: the channel is shared; use rpma_conn_wait()
 * @threads safe
 * @see rpma_cq_get_wc, rpma_cq_get_fd, rpma_conn_wait
 */
int rpma_cq_wait(struct rpma_cq* cq);

/**
 * @brief collect completions
 *
 * Does not wait. A completion with an error status is a success of this call: look at status.
 *
 * @param cq the completion queue
 * @param num_entries how many fit in wc, at least 1
 * @param[out] wc the completions
 * @param[out] num_entries_got how many there were, at least 1; may be NULL if num_entries is 1
 * @error RPMA_E_INVAL: cq or wc is NULL, num_entries is below 1, or above 1 with num_entries_got
 *     NULL
 * @error RPMA_E_NO_COMPLETION: there is none
 * @error RPMA_E_PROVIDER: the device reported an error
 * @error RPMA_E_UNKNOWN: the device gave more than was asked for
 * @threads safe
 * @see rpma_cq_wait, rpma_conn_get_cq, rpma_conn_get_rcq, rpma_srq_get_rcq
 */
int rpma_cq_get_wc(struct rpma_cq* cq, int num_entries, struct ibv_wc* wc, int* num_entries_got);

/* ------------------------------------------------------------------ errors and logging */

/**
 * @brief give the text of an error code
 *
 * @param ret a value returned by a function of this library
 * @return a constant string
 * @threads safe
 * @see rpma_utils_conn_event_2str
 */
const char* rpma_err_2str(int ret);

/** How grave a message is; as a threshold, which messages pass. */
enum rpma_log_level {
    RPMA_LOG_DISABLED = -1,     /**< threshold only: none */
    RPMA_LOG_LEVEL_FATAL = 0,   /**< the library cannot go on */
    RPMA_LOG_LEVEL_ERROR = 1,   /**< a call failed */
    RPMA_LOG_LEVEL_WARNING = 2, /**< something unexpected that is no failure yet */
    RPMA_LOG_LEVEL_NOTICE = 3,  /**< events of connections and endpoints */
    RPMA_LOG_LEVEL_INFO = 4,    /**< what the device can do */
    RPMA_LOG_LEVEL_DEBUG = 5    /**< details */
};

/** Which threshold. */
enum rpma_log_threshold {
    RPMA_LOG_THRESHOLD,     /**< what goes to the log function; at first warning */
    RPMA_LOG_THRESHOLD_AUX, /**< what of it the default function sends to stderr; at first none */
    RPMA_LOG_THRESHOLD_MAX  /**< number of thresholds */
};

/**
 * A log function. It may be called from any thread that calls the library, and must not call the
 * library's functions that post or set up. format and the arguments are those of printf(3) and
 * make one line that ends with a line feed; text from outside has its control characters escaped.
 */
typedef void rpma_log_function(enum rpma_log_level level, const char* file_name, const int line_no,
                               const char* function_name, const char* message_format, ...);

/** Selects the log function of the library. */
#define RPMA_LOG_USE_DEFAULT_FUNCTION (NULL)

/**
 * @brief choose the log function
 *
 * The default function writes to syslog(3), facility local7, and, up to the auxiliary threshold,
 * to stderr. It writes nothing to syslog from functions that post operations, wait for completions
 * or collect them.
 *
 * @param log_function the function, or RPMA_LOG_USE_DEFAULT_FUNCTION
 * @error RPMA_E_AGAIN: never returned; kept for compatibility
 * @threads safe
 * @see rpma_log_set_threshold
 */
int rpma_log_set_function(rpma_log_function* log_function);

/**
 * @brief choose which messages pass
 *
 * A message for stderr has to pass both thresholds: to see events of connections there, set both to
 * RPMA_LOG_LEVEL_NOTICE.
 *
 * @param threshold which threshold
 * @param level the least grave level that passes; RPMA_LOG_DISABLED for none
 * @error RPMA_E_INVAL: threshold or level is unknown
 * @error RPMA_E_AGAIN: never returned; kept for compatibility
 * @threads safe
 * @see rpma_log_get_threshold, rpma_log_set_function
 */
int rpma_log_set_threshold(enum rpma_log_threshold threshold, enum rpma_log_level level);

/**
 * @brief tell which messages pass
 *
 * @param threshold which threshold
 * @param[out] level the level
 * @error RPMA_E_INVAL: threshold is unknown or level is NULL
 * @threads safe
 * @see rpma_log_set_threshold
 */
int rpma_log_get_threshold(enum rpma_log_threshold threshold, enum rpma_log_level* level);

#ifdef __cplusplus
}
#endif

#endif /* LIBRPMA_H */
