/* The one kernel of gpu_allreduce: adds ranges of floats to others. */
#ifndef ADD_FLOATS_H
#define ADD_FLOATS_H

#define MOST_SUMS 16

struct sums {
    unsigned count, floats; /* ranges, and what each has */
    float* to[MOST_SUMS];
    const float* from[MOST_SUMS];
};

#endif
