/* pthread_cancel ends threads that wait for events, completions, conditions, semaphores, data and time; each runs its
 * clean-up handler. One that keeps cancellation off for a while ends afterwards. */
#include <pthread.h>
#include <semaphore.h>

#include "rc_pair.h"

static struct ibv_context* ctx;
static struct ibv_comp_channel* channel;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int pipe_ends[2];
static int cleaned_up;

static void clean_up(void* locked) {
    ++cleaned_up;
    if (locked) pthread_mutex_unlock(locked);
}

static void wait_async_event(void) {
    struct ibv_async_event event;
    ibv_get_async_event(ctx, &event);
}

static void wait_cq_event(void) {
    struct ibv_cq* cq;
    void* context;
    ibv_get_cq_event(channel, &cq, &context);
}

static void wait_semaphore(void) {
    sem_wait(&semaphore);
}

static void wait_data(void) {
    char byte;
    if (read(pipe_ends[0], &byte, 1) < 0) perror("read");
}

static void wait_time(void) {
    sleep(1000);
}

static void wait_with_cancellation_off(void) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    usleep(20000);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    sleep(1000);
}

static void* run(void* wait) {
    pthread_cleanup_push(clean_up, NULL);
    ((void (*)(void))wait)();
    pthread_cleanup_pop(0);
    return NULL;
}

static void* wait_condition(void* unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean_up, &mutex);
    for (;;) pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return NULL;
}

static void check(const char* what, void* (*function)(void*), void* argument) {
    pthread_t thread;
    void* result = NULL;
    int before = cleaned_up;
    if (pthread_create(&thread, NULL, function, argument)) die("pthread_create");
    usleep(5000);
    if (pthread_cancel(thread) || pthread_join(thread, &result)) die("pthread_cancel or pthread_join");
    printf("%s: %s\n", what, result == PTHREAD_CANCELED && cleaned_up == before + 1 ? "cancelled" : "WRONG");
    if (result != PTHREAD_CANCELED || cleaned_up != before + 1) exit(1);
}

int main(void) {
    struct endpoint e;
    setvbuf(stdout, NULL, _IOLBF, 0);
    open_endpoint(&e, 4096, NULL);
    ctx = e.ctx;
    channel = ibv_create_comp_channel(ctx);
    if (!channel || sem_init(&semaphore, 0, 0) || pipe(pipe_ends)) die("set up");
    check("ibv_get_async_event", run, (void*)wait_async_event);
    check("ibv_get_cq_event", run, (void*)wait_cq_event);
    check("pthread_cond_wait", wait_condition, NULL);
    if (pthread_mutex_trylock(&mutex)) die("the mutex is still locked");
    check("sem_wait", run, (void*)wait_semaphore);
    check("read", run, (void*)wait_data);
    check("sleep", run, (void*)wait_time);
    check("after cancellation was off", run, (void*)wait_with_cancellation_off);
    printf("cancelled threads: ok\n");
    return 0;
}
