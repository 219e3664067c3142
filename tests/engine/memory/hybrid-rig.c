#include "tests/engine/memory/hybrid-rig.h"

KvasirMemory *
hybrid_memory_new (TestHeap *heap, const HybridShape *shape)
{
  KvasirMemoryLayer layers[HYBRID_N_LAYERS] = { 0 };
  KvasirMemoryParams params = { .klass = shape->klass,
                                .kv_size = 256,
                                .n_streams = shape->n_streams,
                                .unified = shape->n_streams == 1,
                                .n_seq_max = HYBRID_N_SEQS,
                                .n_ubatch = HYBRID_N_UBATCH,
                                .type_k = KVASIR_TYPE_F16,
                                .type_v = KVASIR_TYPE_F16,
                                .is_causal = TRUE,
                                .n_pos_per_token = 1,
                                .n_rs_seq = shape->n_rs_seq,
                                .n_layers = HYBRID_N_LAYERS,
                                .layers = layers,
                                .shift_obstacle = shape->shift_obstacle,
                                .arch = "test" };
  g_autoptr (GError) error = NULL;
  KvasirMemory *memory;

  /* Attention, a state, and both in one layer. */
  for (guint i = 0; i < HYBRID_N_LAYERS; i++)
    layers[i] = (KvasirMemoryLayer){ .has_attention = i != 1,
                                     .share = -1,
                                     .n_embd_k = 32,
                                     .n_embd_v = 32,
                                     .head_dim_k = 32,
                                     .head_dim_v = 32,
                                     .n_embd_r = i > 0 ? 6 : 0,
                                     .n_embd_s = i > 0 ? 4 : 0,
                                     .buffer_type = &heap->type };
  memory = kvasir_memory_new (&params, &error);
  g_assert_no_error (error);
  return memory;
}

KvasirBatchPlan *
hybrid_plan_new (void)
{
  KvasirBatchLimits limits = { .n_batch = HYBRID_N_BATCH,
                               .n_ubatch = HYBRID_N_UBATCH,
                               .n_seq_max = HYBRID_N_SEQS,
                               .n_vocab = 100,
                               .n_pos_per_token = 1 };

  return kvasir_batch_plan_new (&limits);
}

void
hybrid_describe_cache (const KvasirMemory *memory, guint cache, GString *text)
{
  KvasirCacheInfo info;

  kvasir_memory_get_cache_info (memory, cache, &info);
  for (guint stream = 0; stream < info.n_streams; stream++)
    {
      if (!info.is_recurrent)
        g_string_append_printf (text, "head %u used %u\n",
                                kvasir_memory_get_head (memory, cache, stream),
                                kvasir_memory_get_used (memory, cache, stream));
      for (guint i = 0; i < info.size; i++)
        {
          KvasirCell cell;

          kvasir_memory_get_cell (memory, cache, stream, i, &cell);
          if (cell.pos >= 0)
            g_string_append_printf (text, "%u.%u: %d %d %d %" G_GINT64_MODIFIER "x\n", stream, i,
                                    cell.pos, cell.shift, cell.token, cell.seqs.w[0]);
        }
    }
}

char *
hybrid_describe (const KvasirMemory *memory)
{
  GString *text = g_string_new (NULL);

  for (guint c = 0; c < kvasir_memory_get_n_caches (memory); c++)
    hybrid_describe_cache (memory, c, text);
  return g_string_free (text, FALSE);
}

gint
hybrid_decode (KvasirMemory *memory,
               KvasirBatchPlan *plan,
               const HybridTokens *given,
               guint fail_at)
{
  guint n = given->n;
  gint32 tokens[HYBRID_N_BATCH];
  const gint32 *seqs[HYBRID_N_BATCH];
  guint n_seqs[HYBRID_N_BATCH];
  KvasirBatch batch = {
    .n_tokens = n, .tokens = tokens, .pos = given->pos, .seqs = seqs, .n_seqs = n_seqs
  };
  const KvasirUbatch *ubatch;

  for (guint i = 0; i < n; i++)
    {
      tokens[i] = (gint32) (i % 100);
      seqs[i] = &given->seqs[i];
      n_seqs[i] = 1;
    }
  if (!kvasir_batch_plan_init (plan, &batch, given->pos == NULL ? memory : NULL, NULL))
    return -1;
  kvasir_memory_apply_copies (memory);
  kvasir_memory_update_done (memory, 0);
  if (kvasir_memory_init_batch (memory, plan) != KVASIR_PREPARE_OK)
    return 1;
  for (guint u = 0; kvasir_memory_apply_next (memory, &ubatch); u++)
    if (u == fail_at)
      {
        kvasir_memory_rollback (memory);
        return -3;
      }
  return 0;
}
