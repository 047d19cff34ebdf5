/* A ring buffer of bytes, with a timer. */
#include <stdint.h>
#include <stdlib.h>

#define RING_SIZE 256
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define FOR_EACH(item, list)                    \
    for (struct node *item = (list)->first;     \
         item != NULL;                          \
         item = item->next)

struct node {
    struct node *next;
    union {
        int number;
        char letter;
    } value;
    struct position {
        int line, column;
    } at;
};

typedef struct ring {
    uint8_t bytes[RING_SIZE];
    size_t head, tail;
} ring_t;

typedef struct {
    void (*call)(void *);
    void *data;
} callback;

enum state { IDLE, RUNNING, DONE };

typedef enum { RED, GREEN } colour;

union word {
    uint32_t whole;
    uint8_t bytes[4];
};

struct later;
int ring_length(const ring_t *ring);
extern void on_exit(void (*call)(void));

static inline size_t next(size_t at) { return (at + 1) % RING_SIZE; }

int
ring_push(ring_t *ring, uint8_t byte)
{
    size_t after = next(ring->head);
    if (after == ring->tail)
        return -1; /* full */
    ring->bytes[ring->head] = byte;
    ring->head = after;
    return 0;
}

ring_t *ring_new(void)
{
    return calloc(1, sizeof(ring_t));
}

static const char *const *names(
    int kind, // of ring
    ...)
{
    static const char *const all[] = {"ring", NULL};
    return kind ? all : NULL;
}

void (*handler_for(enum state state))(int)
{
    (void)state;
    return NULL;
}

#ifdef _WIN32
long ticks(void) { return 1; }
#else
long ticks(void)
{
    return 2;
}
#endif

int old_style(a, b)
    int a;
    char *b;
{
    return a + *b;
}

int main(int argc, char **argv)
{
    struct local { int depth; } top = {0};
    ring_t *ring = ring_new();
    for (int i = 1; i < MIN(argc, 10); i++)
        ring_push(ring, (uint8_t)argv[i][0]);
    free(ring);
    return top.depth;
}
