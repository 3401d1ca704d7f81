# SPDX-License-Identifier: BSD-3-Clause
# What the crash test has to say of each program on each platform: pass, or the name of the mistake.
# a: adr, e: eadr, w: wsp; 1: DDIO on, 0: off. On a1 a flush that is a read never persists, which shows before any mistake of order.
set(rpma_mistakes
  no_flush visible_only flush_too_soon commit_too_soon commit_not_atomic direct_write_declared answer_too_soon persist_too_soon wrong_range
  not_drained torn_record reconnect_loses_tail flush_overtaken)

set(everywhere a1=pass a0=pass e1=pass e0=pass w1=pass w0=pass)
set(not_with_ddio a0=pass e1=pass e0=pass w1=pass w0=pass)

set(no_flush_wrong a1=no-flush a0=no-flush e1=no-flush e0=no-flush w1=pass w0=pass)
set(no_flush_right a1=visible-only ${not_with_ddio})

set(visible_only_wrong a1=visible-only ${not_with_ddio})
set(visible_only_right ${everywhere})

set(flush_too_soon_wrong a1=visible-only a0=out-of-order e1=out-of-order e0=out-of-order w1=pass w0=pass)
set(flush_too_soon_right a1=visible-only ${not_with_ddio})

set(commit_too_soon_wrong a1=visible-only a0=out-of-order e1=out-of-order e0=out-of-order w1=pass w0=pass)
set(commit_too_soon_right a1=visible-only ${not_with_ddio})

set(commit_not_atomic_wrong a1=visible-only a0=torn e1=torn e0=torn w1=pass w0=pass)
set(commit_not_atomic_right a1=visible-only ${not_with_ddio})

set(direct_write_declared_wrong a1=visible-only ${not_with_ddio})
set(direct_write_declared_right ${everywhere})

set(answer_too_soon_wrong a1=not-persisted a0=not-persisted e1=pass e0=pass w1=pass w0=pass)
set(answer_too_soon_right ${everywhere})

set(persist_too_soon_wrong a1=persisted-too-early a0=persisted-too-early e1=persisted-too-early e0=persisted-too-early w1=pass w0=pass)
set(persist_too_soon_right ${everywhere})

set(wrong_range_wrong a1=wrong-range a0=wrong-range e1=pass e0=pass w1=pass w0=pass)
set(wrong_range_right ${everywhere})

set(not_drained_wrong a1=not-drained a0=not-drained e1=pass e0=pass w1=pass w0=pass)
set(not_drained_right ${everywhere})

set(torn_record_wrong a1=visible-only a0=torn e1=torn e0=torn w1=pass w0=pass)
set(torn_record_right a1=visible-only ${not_with_ddio})

set(reconnect_loses_tail_wrong a1=connection-ended a0=connection-ended e1=pass e0=pass w1=pass w0=pass)
set(reconnect_loses_tail_right a1=visible-only ${not_with_ddio})

set(flush_overtaken_wrong a1=visible-only a0=overtaken-flush e1=overtaken-flush e0=overtaken-flush w1=pass w0=pass)
set(flush_overtaken_right a1=visible-only ${not_with_ddio})

# With native flushes, where rdma-core knows them: a flush to persistence is durable with DDIO, too; one to visibility is not
# durable where only the memory controller survives.
foreach(name IN ITEMS no_flush visible_only flush_too_soon commit_too_soon commit_not_atomic torn_record reconnect_loses_tail
    flush_overtaken)
  set(${name}_right_native ${everywhere})
endforeach()
set(no_flush_wrong_native ${no_flush_wrong})
set(visible_only_wrong_native a1=visible-only a0=visible-only e1=pass e0=pass w1=pass w0=pass)
set(flush_too_soon_wrong_native a1=out-of-order a0=out-of-order e1=out-of-order e0=out-of-order w1=pass w0=pass)
set(commit_too_soon_wrong_native ${flush_too_soon_wrong_native})
set(commit_not_atomic_wrong_native a1=torn a0=torn e1=torn e0=torn w1=pass w0=pass)
set(torn_record_wrong_native ${commit_not_atomic_wrong_native})
set(flush_overtaken_wrong_native a1=overtaken-flush a0=overtaken-flush e1=overtaken-flush e0=overtaken-flush w1=pass w0=pass)
