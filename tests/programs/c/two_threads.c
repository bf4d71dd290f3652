/* Two threads, an endpoint each on the same host, connected to each other: thread A sends, thread B receives and
 * answers. A mutex and a condition variable pass the word between them as well. */
#include <pthread.h>

#include "rc_pair.h"

static struct endpoint a, b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int receiver_ready, rounds_seen;

static void* receiver(void* arg) {
    (void)arg;
    for (uint64_t i = 0; i < 50; ++i) {
        if (post_receive(&b, i, 64)) die("post_receive");
        pthread_mutex_lock(&lock);
        receiver_ready = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        struct ibv_wc wc = wait_completion(&b);
        if (wc.status || wc.wr_id != i) exit(3);
        pthread_mutex_lock(&lock);
        ++rounds_seen;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t t;
    open_endpoint(&a, 4096, NULL);
    open_endpoint(&b, 4096, NULL);
    connect_endpoint(&a, &b.self, 14, 7);
    connect_endpoint(&b, &a.self, 14, 7);
    if (pthread_create(&t, NULL, receiver, NULL)) die("pthread_create");
    for (int i = 0; i < 50; ++i) {
        pthread_mutex_lock(&lock);
        while (!receiver_ready) pthread_cond_wait(&changed, &lock);
        receiver_ready = 0;
        pthread_mutex_unlock(&lock);
        if (post(&a, IBV_WR_SEND, (uint64_t)i, 64, &b.self)) die("post");
        if (wait_completion(&a).status) return 4;
        pthread_mutex_lock(&lock);
        while (rounds_seen <= i) pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(t, NULL);
    printf("two threads: ok\n");
    return 0;
}
