/* What the tutorial's programs share: the socket over which two sides of a connection tell each other where they are.
 */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void die(const char* what) {
    perror(what);
    exit(1);
}

/* To `server`, or, where it is null, from whoever connects first. */
static int connect_tcp(const char* server, const char* port) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = server ? 0 : AI_PASSIVE},
                    *at;
    int fd, one = 1;
    if (getaddrinfo(server, port, &hints, &at)) die("getaddrinfo");
    fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
    if (fd < 0) die("socket");
    if (server) {
        if (connect(fd, at->ai_addr, at->ai_addrlen)) die("connect");
    } else {
        int listener = fd;
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(listener, at->ai_addr, at->ai_addrlen) || listen(listener, 1)) die("listen");
        fd = accept(listener, NULL, NULL);
        if (fd < 0) die("accept");
        close(listener);
    }
    freeaddrinfo(at);
    return fd;
}
