/* engine/model/latent.h - attention with a latent row (MLA)
 *
 * Keys and values of all heads come from one row c of kv_lora_rank numbers, and a part p that is
 * turned by the position and the same for all heads. formats.md 5.3. With n = rms x:
 *
 *   (c, p) = Wkv n;  c = rms c
 *   q = Wq n, or Wqb (rms (Wqa n))          of each head: (q', p') in front and behind
 *
 * Files come in two forms. With rows only (c, p) is kept, and each head has matrices that turn its
 * query into the space of the row and the result out of it:
 *
 *   query of head h = (Kh q', rope p'),  key = (c, rope p),  value = c,  Wo (Vh attn)
 *
 * Plain ones have one matrix for keys and values of all heads, which are kept:
 *
 *   (k', v) = Wkvb c,  query of head h = (q', rope p'),  key = (k', rope p),  Wo attn
 *
 * model->extra is a KvasirLatent, model->layers [n_layers] of KvasirLayer.
 * Errors: KVASIR_ENGINE_ERROR_BAD_FILE naming key or tensor, expected and found. Thread: the
 * loading one; building: engine thread.
 */
#pragma once

#include "engine/model/model-private.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirTensor *wq_a;   /* [n_embd, q_rank]; NULL: queries come directly */
  KvasirTensor *q_norm; /* [q_rank] */
  KvasirTensor *wq;     /* [q_rank or n_embd, q_width * n_heads] */
  KvasirTensor *wkv;    /* [n_embd, rank + n_rot] */
  KvasirTensor *kv_norm;
  KvasirTensor *wkv_b; /* plain: [rank, (q_width - n_rot + v_width) * n_heads] */
  KvasirTensor *wk_b;  /* else: [q_width - n_rot, rank, n_heads] */
  KvasirTensor *wv_b;  /* [rank, v_width, n_heads] */
  KvasirTensor *wo;    /* [v_width * n_heads, n_embd] */
} KvasirLatentBlock;

typedef struct
{
  gboolean is_plain;
  guint q_rank;               /* 0: queries come directly */
  guint rank;                 /* numbers of c */
  guint q_width, v_width;     /* of a head */
  KvasirLatentBlock blocks[]; /* [n_layers] */
} KvasirLatent;

/* For KvasirArch.setup: reads the keys, and says what each layer keeps and turns. */
gboolean kvasir_latent_setup (KvasirModel *model, GError **error);
/* With yarn scores count times m^2, m its magnitude, while the rope keeps the length of what it
 * turns: by rope.scaling.yarn_log_multiplier. */
gboolean kvasir_latent_settle_yarn (KvasirModel *model, GError **error);
gboolean kvasir_load_latent (KvasirModel *model, gint il, GError **error);
/* KvasirArch.build_attention */
KvasirTensor *
kvasir_build_latent (const KvasirModel *model, KvasirModelBuild *step, guint il, KvasirTensor *x);

G_END_DECLS
