/* UDP between two hosts: the client sends, the server answers; select() with a timeout that must not fire early. */
#include <sys/select.h>
#include <time.h>

#include "rc_pair.h"

int main(int argc, char** argv) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM, .ai_flags = argc > 1 ? 0 : AI_PASSIVE},
                    *at;
    if (getaddrinfo(argc > 1 ? argv[1] : NULL, "18800", &hints, &at)) die("getaddrinfo");
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    char text[64] = "";
    if (argc < 2) {
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        if (bind(fd, at->ai_addr, at->ai_addrlen)) die("bind");
        ssize_t n = recvfrom(fd, text, sizeof text, 0, (struct sockaddr*)&from, &size);
        printf("server got %zd bytes from %s\n", n, inet_ntoa(from.sin_addr));
        usleep(3000);
        if (sendto(fd, text, (size_t)n, 0, (struct sockaddr*)&from, size) != n) die("sendto");
        return 0;
    }
    usleep(1000);
    if (sendto(fd, "hello", 5, 0, at->ai_addr, at->ai_addrlen) != 5) die("sendto");
    for (int timeouts = 0;; ++timeouts) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(fd, &set);
        struct timeval tv = {.tv_usec = 1000};
        int n = select(fd + 1, &set, NULL, NULL, &tv);
        if (n < 0) die("select");
        if (n == 0) continue;
        if (recv(fd, text, sizeof text, 0) != 5) die("recv");
        printf("client got %.5s after %d timeouts\n", text, timeouts);
        return timeouts == 3 ? 0 : 1;
    }
}
