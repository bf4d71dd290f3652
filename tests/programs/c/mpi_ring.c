// Every rank hands messages of growing size on to the next, from rank 0 back to rank 0; then all sum up their numbers.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ring(int rank, int size, int bytes) {
    char* const message = malloc(bytes);
    memset(message, rank == 0 ? 0x5A : 0, bytes);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    if (rank == 0) MPI_Send(message, bytes, MPI_CHAR, next, 7, MPI_COMM_WORLD);
    if (rank == 0) memset(message, 0, bytes);
    MPI_Recv(message, bytes, MPI_CHAR, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(message, bytes, MPI_CHAR, next, 7, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < bytes; ++i) wrong += message[i] != 0x5A;
    free(message);
    return wrong;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, length, wrong = 0;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    for (int bytes = 8; bytes <= 1 << 20; bytes *= 32) wrong += ring(rank, size, bytes);
    double mine = rank + 1, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d on %s: %d bytes wrong, the sum is %g\n", rank, size, host, wrong, sum);
    MPI_Finalize();
    return wrong != 0;
}
