/* backends/cpu/packed.h - weights in the order in which sixteen rows at a time are multiplied
 *
 * A group of sixteen rows takes the same bytes as in the file, so that the place of a row whose
 * number is a multiple of sixteen is found the same way. It is a list of blocks of all sixteen:
 *   scales [16]; minimums [16] where the type has them; fifth bits [8] of 64 bits, bit 4 r + i of
 *   the j-th for element 4 j + i of row r, where it has them; four bytes of each row, the second
 *   ones, and so on.
 * Of blocks of 256 elements: the first four bytes of each row, the second ones, and so on; what is
 *   left of each row, two bytes of Q6_K.
 * Nothing is lost or rounded: products of both orders are the same bit for bit.
 *
 * Thread: kvasir_packed_pack() runs in one thread while others compute; what is said to be packed
 *   is never written again.
 */
#pragma once

#include "backends/cpu/kernels.h"

#define KVASIR_PACKED_ROWS 16

/* Whether the type has a packed order and the rows make whole groups. */
bool kvasir_packed_is_possible (const KvasirTensor *tensor);

/* As the device's pack(). */
size_t kvasir_packed_pack (KvasirTensor *tensor, size_t n_bytes);

/* Where @n_bytes of rows of @tensor from @row on are packed, or NULL: they are not, or @row is not
 * the first of a group. */
const uint8_t *kvasir_packed_find (const KvasirTensor *tensor, const uint8_t *row, size_t n_bytes);

/* Lets @product read rows [@row, @row_end) where they are packed, if they are. */
void kvasir_packed_use (const KvasirTensor *tensor,
                        KvasirProduct *product,
                        int64_t row,
                        int64_t row_end);

/* Row @id of a matrix as floats from where it is packed. FALSE: it is not. */
bool kvasir_packed_to_float (const KvasirTensor *tensor,
                             int64_t id,
                             KvasirRowToFloat to_float,
                             float *out);
