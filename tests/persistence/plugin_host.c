/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin_host PLUGIN: loads it as programs with plug-ins do, twice, and has it persist. */
#include <dlfcn.h>
#include <stdio.h>

static char place[64];

static int use(const char* name) {
    void* plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*persist)(char*, size_t) = NULL;
    *(void**)&persist = dlsym(plugin, "persist");
    int ret = persist == NULL || persist(place, sizeof(place)) != 0;
    return dlclose(plugin) != 0 || ret;
}

int main(int argc, char* argv[]) {
    return argc != 2 || use(argv[1]) || use(argv[1]);
}
