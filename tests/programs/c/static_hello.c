/* Linked statically: the preload library cannot get in, and simverbs must say so. */
#include <stdio.h>

int main(void) {
    printf("hello\n");
    return 0;
}
