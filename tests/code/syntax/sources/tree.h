#ifndef TREE_H
#define TREE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TREE_MAX(a, b) ((a) > (b) ? (a) : (b))

struct tree_node {
    struct tree_node *left, *right;
    int class; /* a word that C++ keeps for itself */
    int key;
};

typedef struct tree_node *(*tree_alloc)(size_t size);

enum tree_order { TREE_UP, TREE_DOWN };

int tree_insert(struct tree_node **root, int key);
void tree_free(struct tree_node *root) __attribute__((nonnull));

static inline int tree_depth(const struct tree_node *node)
{
    return node ? 1 + TREE_MAX(tree_depth(node->left), tree_depth(node->right)) : 0;
}

static inline void *tree_new(int private)
{
    return private ? NULL : NULL;
}

#ifdef __cplusplus
}
#endif

#endif
