/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persisting METHOD FILE: registers a mapped file, stores into it and persists by one method. The
 * report at exit says what of it is seen. "list" prints the methods: those that persist, and after
 * a line "--" those that do not.
 */
#include <fcntl.h>
#include <libpmem.h>
#include <libpmem2.h>
#include <librpma.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 1 << 20, AT = 4200, LENGTH = 100 };

static struct rpma_mr_local* mr;
static char* memory;
static char* place; /* in the memory */
static struct pmem2_map* map;
static int fd;
static const char data[LENGTH] = {'x'};

static void store(void) {
    memset(place, 's', LENGTH);
}

static void by_pmem_persist(void) {
    store();
    pmem_persist(place, LENGTH);
}
static void by_pmem_persist_twice(void) {
    by_pmem_persist();
    pmem_persist(place, LENGTH);
}
static void by_pmem_flush_and_drain(void) {
    store();
    pmem_flush(place, LENGTH);
    pmem_drain();
}
static void by_pmem_msync(void) {
    store();
    pmem_msync(place, LENGTH);
}
static void by_pmem_deep_persist(void) {
    store();
    pmem_deep_persist(place, LENGTH);
}
static void by_pmem_memcpy(void) {
    pmem_memcpy(place, data, LENGTH, 0);
}
static void by_pmem_memcpy_persist(void) {
    pmem_memcpy_persist(place, data, LENGTH);
}
static void by_pmem_memcpy_nodrain_and_drain(void) {
    pmem_memcpy_nodrain(place, data, LENGTH);
    pmem_drain();
}
static void by_pmem_memmove(void) {
    pmem_memmove(place, data, LENGTH, PMEM_F_MEM_NONTEMPORAL);
}
static void by_pmem_memmove_persist(void) {
    pmem_memmove_persist(place, data, LENGTH);
}
static void by_pmem_memset(void) {
    pmem_memset(place, 'x', LENGTH, 0);
}
static void by_pmem_memset_persist(void) {
    pmem_memset_persist(place, 'x', LENGTH);
}
static void by_pmem2_persist(void) {
    store();
    pmem2_get_persist_fn(map)(place, LENGTH);
}
static void by_pmem2_flush_and_drain(void) {
    store();
    pmem2_get_flush_fn(map)(place, LENGTH);
    pmem2_get_drain_fn(map)();
}
static void by_pmem2_memcpy(void) {
    pmem2_get_memcpy_fn(map)(place, data, LENGTH, 0);
}
static void by_pmem2_memmove(void) {
    pmem2_get_memmove_fn(map)(place, data, LENGTH, PMEM2_F_MEM_NODRAIN);
    pmem2_get_drain_fn(map)();
}
static void by_pmem2_memset(void) {
    pmem2_get_memset_fn(map)(place, 'x', LENGTH, 0);
}
static void by_pmem2_deep_flush(void) {
    store();
    pmem2_deep_flush(map, place, LENGTH);
}
static void by_msync(void) {
    store();
    msync(memory + 4096, 4096, MS_SYNC);
}
static void by_fsync(void) {
    store();
    fsync(fd);
}
static void by_fdatasync(void) {
    store();
    fdatasync(fd);
}
static void by_sync(void) {
    store();
    sync();
}

static void by_syncfs(void) {
    store();
    syncfs(fd);
}
/* An earlier flush is drained by what persists another range. */
static void by_pmem2_flush_and_persist(void) {
    store();
    pmem2_get_flush_fn(map)(place, LENGTH);
    memory[0] = 1;
    pmem2_get_persist_fn(map)(memory, 1);
}
static void by_many_flushes_and_one_drain(void) {
    for (int at = 0; at < SIZE; at += 128) {
        memory[at] = 1;
        pmem_flush(memory + at, 1);
    }
    pmem_drain();
}
/* Caches know the places of memory, and not the ways that lead there. */
static void by_another_mapping(void) {
    char* other = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    store();
    pmem_persist(other + AT, LENGTH);
    munmap(other, SIZE);
}
static void by_msync_of_another_mapping(void) {
    char* other = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    store();
    msync(other + 4096, 4096, MS_SYNC);
    munmap(other, SIZE);
}
/* The end of the file is gone, and what was stored there. */
static void by_fsync_of_the_rest(void) {
    store();
    if (ftruncate(fd, 4096) == 0)
        fsync(fd);
    memory[0] = 1;
    fsync(fd);
}

static void not_by_nothing(void) {
    store();
}
static void not_by_pmem_flush_alone(void) {
    store();
    pmem_flush(place, LENGTH);
}
static void not_by_pmem_memcpy_nodrain(void) {
    pmem_memcpy(place, data, LENGTH, PMEM_F_MEM_NODRAIN);
}
static void not_by_pmem_memcpy_noflush(void) {
    pmem_memcpy(place, data, LENGTH, PMEM_F_MEM_NOFLUSH);
    pmem_drain();
}
static void not_by_another_range(void) {
    store();
    pmem_persist(memory, LENGTH);
}
static void not_by_half_of_it(void) {
    store();
    pmem2_get_persist_fn(map)(place, LENGTH / 2); /* the same page */
}
static void not_by_msync_of_another_page(void) {
    store();
    msync(memory, 4096, MS_SYNC);
}
static void not_by_msync_that_does_not_wait(void) {
    store();
    msync(memory, SIZE, MS_ASYNC);
}

/* Another file lies there by now. */
static void not_by_what_is_mapped_there_later(void) {
    store();
    rpma_mr_dereg(&mr);
    int other = open("other", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (other >= 0 && ftruncate(other, SIZE) == 0 &&
        mmap(memory, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, other, 0) == memory)
        pmem_persist(place, LENGTH);
    close(other);
}

#define METHOD(name) \
    { #name, name }
static const struct method {
    const char* name;
    void (*run)(void);
} methods[] = {
    METHOD(by_pmem_persist),
    METHOD(by_pmem_persist_twice),
    METHOD(by_pmem_flush_and_drain),
    METHOD(by_pmem_msync),
    METHOD(by_pmem_deep_persist),
    METHOD(by_pmem_memcpy),
    METHOD(by_pmem_memcpy_persist),
    METHOD(by_pmem_memcpy_nodrain_and_drain),
    METHOD(by_pmem_memmove),
    METHOD(by_pmem_memmove_persist),
    METHOD(by_pmem_memset),
    METHOD(by_pmem_memset_persist),
    METHOD(by_pmem2_persist),
    METHOD(by_pmem2_flush_and_drain),
    METHOD(by_pmem2_memcpy),
    METHOD(by_pmem2_memmove),
    METHOD(by_pmem2_memset),
    METHOD(by_pmem2_deep_flush),
    METHOD(by_msync),
    METHOD(by_fsync),
    METHOD(by_fdatasync),
    METHOD(by_sync),
    METHOD(by_syncfs),
    METHOD(by_pmem2_flush_and_persist),
    METHOD(by_many_flushes_and_one_drain),
    METHOD(by_another_mapping),
    METHOD(by_msync_of_another_mapping),
    METHOD(by_fsync_of_the_rest),
    METHOD(not_by_nothing),
    METHOD(not_by_pmem_flush_alone),
    METHOD(not_by_pmem_memcpy_nodrain),
    METHOD(not_by_pmem_memcpy_noflush),
    METHOD(not_by_another_range),
    METHOD(not_by_half_of_it),
    METHOD(not_by_msync_of_another_page),
    METHOD(not_by_msync_that_does_not_wait),
    METHOD(not_by_what_is_mapped_there_later),
};
enum { COUNT = sizeof(methods) / sizeof(methods[0]) };

static int map_file(const char* name) {
    struct pmem2_config* config = NULL;
    struct pmem2_source* source = NULL;
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int ret = fd < 0 || ftruncate(fd, SIZE) != 0 || pmem2_config_new(&config) ||
              pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_PAGE) ||
              pmem2_source_from_fd(&source, fd) || pmem2_map_new(&map, config, source);
    pmem2_source_delete(&source);
    pmem2_config_delete(&config);
    if (ret)
        return -1;
    memory = pmem2_map_get_address(map);
    place = memory + AT;
    return 0;
}

static int run(void (*method)(void)) {
    struct ibv_context* device = NULL;
    struct rpma_peer* peer = NULL;
    int ret = rpma_utils_get_ibv_context("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &device) ||
              rpma_peer_new(device, &peer) ||
              rpma_mr_reg(peer, memory, SIZE, RPMA_MR_USAGE_WRITE_DST, &mr);
    if (ret == 0)
        method();
    rpma_mr_dereg(&mr);
    rpma_peer_delete(&peer);
    return ret;
}

int main(int argc, char* argv[]) {
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (int i = 0; i < COUNT; i++)
            puts(methods[i].name);
        return 0;
    }
    for (int i = 0; argc == 3 && i < COUNT; i++)
        if (strcmp(argv[1], methods[i].name) == 0)
            return map_file(argv[2]) || run(methods[i].run) ? 1 : 0;
    fputs("usage: persisting METHOD FILE | list\n", stderr);
    return 2;
}
