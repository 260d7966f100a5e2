#define _GNU_SOURCE 1
#include "CAFLinux.h"
#include "Perform.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int netlink_socket(void) {
    PERFORM(CAF_CALL_SOCKET, -1, 0, socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
    return (int)result;
}

static int netlink_bind(int descriptor, uint32_t groups) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    PERFORM(CAF_CALL_BIND, descriptor, 0, bind(descriptor, (struct sockaddr *)&address, sizeof address));
    return (int)result;
}

long caf_netlink_receive(int descriptor, void *buffer, size_t capacity, uint32_t *sender, bool *is_truncated) {
    struct sockaddr_nl address = {0};
    struct iovec slice = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &slice, .msg_iovlen = 1};
    PERFORM(CAF_CALL_RECV, descriptor, capacity, (slice.iov_len = call.length, recvmsg(descriptor, &message, 0)));
    *sender = address.nl_pid;
    *is_truncated = (message.msg_flags & MSG_TRUNC) != 0;
    return result;
}

int caf_netlink_open(void) { return netlink_socket(); }

int caf_netlink_watch(void) {
    int descriptor = netlink_socket();
    if (descriptor < 0) return descriptor;
    int failed = netlink_bind(descriptor, RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE |
                                              RTMGRP_IPV6_ROUTE);
    if (failed == 0) return descriptor;
    caf_close(descriptor);
    return failed;
}

int caf_netlink_take_change(int descriptor) {
    char message[4096];
    uint32_t sender = 0;
    bool is_truncated = false;
    long count = caf_netlink_receive(descriptor, message, sizeof message, &sender, &is_truncated);
    if (count < 0) return (int)count;
    if (sender != 0) return 0;
    return count > 0 ? 1 : -ENODATA;
}

// MARK: What an interface is

static bool has_line(const char *text, const char *line) {
    size_t length = strlen(line);
    for (const char *found = text; (found = strstr(found, line)) != NULL; found++)
        if ((found == text || found[-1] == '\n') && found[length] == '\n') return true;
    return false;
}

// Empty if there is none.
static void read_uevent(const char *name, char *text, size_t capacity) {
    char path[64 + IF_NAMESIZE];
    text[0] = 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/uevent", name);
    int descriptor = caf_open_for_reading(path);
    if (descriptor < 0) return;
    long count = caf_read_at(descriptor, text, capacity - 1, 0);
    caf_close(descriptor);
    text[count > 0 ? count : 0] = 0;
}

static bool has_entry(const char *name, const char *entry) {
    char path[80 + IF_NAMESIZE];
    snprintf(path, sizeof path, "/sys/class/net/%s/%s", name, entry);
    PERFORM(CAF_CALL_INQUIRE, -1, 0, access(path, F_OK));
    return result == 0;
}

caf_interface_facts caf_facts_of_interface(const char *name, int index) {
    caf_interface_facts facts = {0};
    char text[1024];
    char number[24];
    // A name with a slash is none of an interface, and would lead elsewhere.
    if (index <= 0 || strchr(name, '/') != NULL || name[0] == '.') return facts;
    read_uevent(name, text, sizeof text);
    snprintf(number, sizeof number, "IFINDEX=%d", index);
    if (!has_line(text, number)) return facts;
    facts.is_cellular = has_line(text, "DEVTYPE=wwan");
    facts.is_wireless = has_line(text, "DEVTYPE=wlan") || has_entry(name, "phy80211") || has_entry(name, "wireless");
    return facts;
}

bool caf_is_cellular(int interface) {
    char name[IF_NAMESIZE];
    if (interface <= 0) return false;
    PERFORM(CAF_CALL_INQUIRE, -1, 0, if_indextoname((unsigned)interface, name) != NULL ? 0 : -1);
    return result == 0 && caf_facts_of_interface(name, interface).is_cellular;
}
