#include <string.h>

#include "engine/error.h"
#include "engine/model/layers.h"

static void
free_model (KvasirModel *self)
{
  g_clear_pointer (&self->weights, kvasir_weights_free);
  g_clear_pointer (&self->chat, kvasir_template_free);
  g_clear_pointer (&self->vocab, kvasir_vocab_unref);
  g_clear_pointer (&self->gguf, kvasir_gguf_free);
  g_clear_error (&self->chat_error);
  g_free (self->title);
  g_free (self->layers);
  g_free (self->extra);
  g_free (self);
}

KvasirModel *
kvasir_model_ref (KvasirModel *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
kvasir_model_unref (KvasirModel *self)
{
  g_return_if_fail (self != NULL);
  if (g_atomic_ref_count_dec (&self->ref_count))
    free_model (self);
}

/* Names an architecture, and refuses what the engine can't run before anything is taken. */
static gboolean
find_arch (KvasirModel *self, gboolean vocab_only, GError **error)
{
  self->info.arch = kvasir_gguf_get_string (self->gguf, "general.architecture", NULL);
  if (self->info.arch == NULL)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE,
                   "%s: general.architecture: this key is expected and missing", self->info.path);
      return FALSE;
    }
  if (vocab_only)
    return TRUE;
  self->arch = kvasir_arch_find (self->info.arch, error);
  if (self->arch == NULL)
    g_prefix_error (error, "%s: ", self->info.path);
  return self->arch != NULL;
}

static char *
dup_special (const KvasirModel *self, gint32 id)
{
  gsize len = 0;
  const char *text = id < 0 ? "" : kvasir_vocab_get_text (self->vocab, id, &len);

  return g_strndup (text, len);
}

/* Once: it renders a short chat, which a window must not do whenever it shows a name. */
static void
measure_stability (KvasirModel *self)
{
  g_autofree char *bos = dup_special (self, kvasir_vocab_get_bos (self->vocab));
  g_autofree char *eos = dup_special (self, kvasir_vocab_get_eos (self->vocab));

  self->info.prefix_stability = self->chat == NULL
                                    ? KVASIR_PREFIX_UNKNOWN
                                    : kvasir_template_measure_stability (self->chat, bos, eos);
}

static gboolean
load_vocab (KvasirModel *self, GError **error)
{
  const char *source;

  self->vocab = kvasir_vocab_new (self->gguf, error);
  if (self->vocab == NULL)
    return FALSE;
  self->info.n_vocab = kvasir_vocab_get_n_tokens (self->vocab);
  source = kvasir_vocab_get_chat_template (self->vocab);
  if (source != NULL)
    self->chat = kvasir_template_new (source, -1, &self->chat_error);
  else
    self->chat_error = g_error_new (KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE,
                                    "%s has no chat template", self->info.path);
  measure_stability (self);
  return TRUE;
}

/* Which of the two counts is decided once per context. */
static gboolean
check_both_factors (const KvasirModel *self, GError **error)
{
  if ((self->rope_long == NULL) == (self->rope_short == NULL))
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE,
               "%s: rope_factors_%s.weight: a tensor beside the other factors expected, none found",
               self->info.path, self->rope_long == NULL ? "long" : "short");
  return FALSE;
}

static gboolean
load_rope_factors (KvasirModel *self, GError **error)
{
  KvasirWeights *w = self->weights;
  const gint64 rope[2] = { self->hparams.rope.n_rot / 2, 0 };

  return rope[0] == 0 || (kvasir_weights_get_optional (w, -1, "rope_freqs.weight", rope,
                                                       &self->rope_freqs, error) &&
                          kvasir_weights_get_optional (w, -1, "rope_factors_long.weight", rope,
                                                       &self->rope_long, error) &&
                          kvasir_weights_get_optional (w, -1, "rope_factors_short.weight", rope,
                                                       &self->rope_short, error) &&
                          check_both_factors (self, error));
}

static gboolean
load_output (KvasirModel *self, GError **error)
{
  KvasirWeights *w = self->weights;
  const KvasirHparams *hp = &self->hparams;
  const char *name = self->arch->output_norm_name;
  const gint64 matrix[2] = { hp->n_embd, hp->n_vocab };
  const gint64 norm[2] = { hp->n_embd, 0 };
  const gint64 bias[2] = { hp->n_vocab, 0 };

  if (self->arch->is_encoder)
    return TRUE;
  if ((!hp->has_weightless_norms &&
       !kvasir_weights_get (w, -1, name != NULL ? name : "output_norm.weight", norm,
                            &self->output_norm, error)) ||
      !kvasir_load_bias (self, -1, "output_norm.bias", hp->n_embd, self->arch->needs_norm_biases,
                         &self->output_norm_bias, error) ||
      !kvasir_weights_get_optional (w, -1, "output.weight", matrix, &self->output, error) ||
      !kvasir_weights_get_optional (w, -1, "output.bias", bias, &self->output_bias, error))
    return FALSE;
  if (self->output == NULL)
    self->output = self->token_embd;
  return TRUE;
}

static gboolean
load_ends (KvasirModel *self, GError **error)
{
  const gint64 matrix[2] = { self->hparams.n_embd, self->hparams.n_vocab };

  return kvasir_weights_get (self->weights, -1, "token_embd.weight", matrix, &self->token_embd,
                             error) &&
         load_output (self, error) && load_rope_factors (self, error);
}

/* Pages are read while the vocabulary is made, which takes about as long. */
static gboolean
map_weights (KvasirModel *self, const KvasirModelParams *params, GError **error)
{
  self->weights = kvasir_weights_new (self->gguf, params->device);
  if (!kvasir_weights_map (self->weights, error))
    return FALSE;
  if (!params->no_alloc)
    kvasir_weights_start_prefault (self->weights);
  return TRUE;
}

gboolean
kvasir_model_load_weights (KvasirModel *self,
                           KvasirProgress progress,
                           gpointer user_data,
                           GError **error)
{
  g_return_val_if_fail (self != NULL && self->weights != NULL, FALSE);
  if (kvasir_weights_finish_prefault (self->weights, progress, user_data))
    {
      gboolean ok = kvasir_weights_load (self->weights, FALSE, error);
      if (ok)
        kvasir_weights_pack (self->weights, self->output, FALSE);
      return ok;
    }
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_ABORTED, "%s: loading was cancelled",
               self->info.path);
  return FALSE;
}

/* What a layer has and the graph does not read would be missed without a word. */
static gboolean
check_used (const KvasirModel *self, GError **error)
{
  for (guint i = 0; i < kvasir_gguf_get_n_tensors (self->gguf); i++)
    {
      const char *name = kvasir_gguf_get_tensor (self->gguf, i)->name;
      guint il = 0;
      int n_read = 0;

      if (sscanf (name, "blk.%u.%n", &il, &n_read) != 1 || n_read == 0 ||
          il >= self->hparams.n_layers || kvasir_weights_is_used (self->weights, name))
        continue;
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                   "%s: %s: no such tensor supported in a layer of %s, one found", self->info.path,
                   name, self->info.arch);
      return FALSE;
    }
  return TRUE;
}

static gboolean
load_tensors (KvasirModel *self, const KvasirModelParams *params, GError **error)
{
  if (!load_ends (self, error) || !self->arch->load (self, error) || !check_used (self, error))
    return FALSE;
  if (params->no_alloc || params->weights_later)
    {
      gboolean ok = kvasir_weights_load (self->weights, TRUE, error);
      if (ok)
        kvasir_weights_pack (self->weights, self->output, TRUE);
      return ok;
    }
  return kvasir_model_load_weights (self, params->progress, params->user_data, error);
}

/* The matrix type that most of the parameters have. */
static void
count_params (KvasirModel *self)
{
  guint64 n_of_type[KVASIR_N_TYPES] = { 0 };
  guint best = KVASIR_TYPE_F32;

  for (guint i = 0; i < kvasir_gguf_get_n_tensors (self->gguf); i++)
    {
      const KvasirGgufTensor *t = kvasir_gguf_get_tensor (self->gguf, i);
      guint64 n = (guint64) t->ne[0] * (guint64) t->ne[1] * (guint64) t->ne[2] * (guint64) t->ne[3];
      self->info.n_params += n;
      if (t->n_dims > 1)
        n_of_type[t->type] += n;
    }
  for (guint i = 0; i < KVASIR_N_TYPES; i++)
    if (n_of_type[i] > n_of_type[best])
      best = i;
  self->info.type_name = kvasir_type_get_name ((int) best);
}

/* The first layer that attends speaks for all that do; of models without attention the first. */
static const KvasirLayerHparams *
peek_typical_layer (const KvasirHparams *hp)
{
  for (guint i = 0; i < hp->n_layers; i++)
    if (hp->layers[i].n_kv_heads > 0)
      return &hp->layers[i];
  return &hp->layers[0];
}

static void
describe (KvasirModel *self)
{
  const KvasirHparams *hp = &self->hparams;
  KvasirModelInfo *info = &self->info;

  info->memory_class = hp->memory_class;
  info->n_layers = hp->n_layers;
  info->n_embd = hp->n_embd;
  info->n_heads = peek_typical_layer (hp)->n_heads;
  info->n_kv_heads = peek_typical_layer (hp)->n_kv_heads;
  info->head_dim = hp->head_dim_k;
  info->n_ff = hp->layers[0].n_ff;
  info->n_vocab = hp->n_vocab;
  info->n_ctx_train = hp->n_ctx_train;
  for (guint i = 0; i < hp->n_layers; i++)
    if (hp->layers[i].share < 0)
      info->kv_bytes_per_token_f16 +=
          2 * (guint64) (hp->layers[i].n_embd_k + hp->layers[i].n_embd_v);
}

KvasirModel *
kvasir_model_new (const char *path, const KvasirModelParams *params, GError **error)
{
  g_autoptr (KvasirModel) self = NULL;

  g_return_val_if_fail (path != NULL && params != NULL, NULL);
  g_return_val_if_fail (params->vocab_only || params->device != NULL, NULL);
  self = g_new0 (KvasirModel, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->device = params->device;
  self->gguf = kvasir_gguf_open (path, error);
  if (self->gguf == NULL)
    return NULL;
  self->info.path = kvasir_gguf_get_path (self->gguf);
  self->info.file_bytes = kvasir_gguf_get_total_bytes (self->gguf);
  self->info.title = self->title = kvasir_model_make_title (path);
  if (!find_arch (self, params->vocab_only, error) ||
      (!params->vocab_only && !map_weights (self, params, error)) || !load_vocab (self, error))
    return NULL;
  count_params (self);
  if (params->vocab_only)
    return g_steal_pointer (&self);
  if (!kvasir_hparams_read (&self->hparams, self->gguf, self->info.arch, self->info.n_vocab,
                            self->arch->may_lack_attention ? 0 : 1, error) ||
      (self->arch->setup != NULL && !self->arch->setup (self, error)) ||
      !load_tensors (self, params, error))
    return NULL;
  describe (self);
  return g_steal_pointer (&self);
}

const KvasirModelInfo *
kvasir_model_get_info (const KvasirModel *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return &self->info;
}

KvasirVocab *
kvasir_model_get_vocab (KvasirModel *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return self->vocab;
}

const KvasirTemplate *
kvasir_model_get_template (const KvasirModel *self, GError **error)
{
  g_return_val_if_fail (self != NULL, NULL);
  if (self->chat == NULL && error != NULL)
    *error = g_error_copy (self->chat_error);
  return self->chat;
}

gboolean
kvasir_model_is_intact (const KvasirModel *self)
{
  return self->weights == NULL || kvasir_weights_are_intact (self->weights);
}

guint64
kvasir_model_get_resident_bytes (const KvasirModel *self)
{
  return self->weights == NULL ? 0 : kvasir_weights_get_resident_bytes (self->weights);
}

void
kvasir_model_append_breakdown (const KvasirModel *self, GArray *rows)
{
  KvasirMemoryRow row = { .kind = KVASIR_KIND_WEIGHTS, .layer = -1 };

  if (self->weights == NULL)
    return;
  row.device = self->device->name;
  guint64 n_packed = kvasir_weights_get_packed_bytes (self->weights);
  row.buffer_type = kvasir_weights_get_buffer_type (self->weights);
  row.n_bytes = kvasir_weights_get_bytes (self->weights) - n_packed;
  g_array_append_val (rows, row);
  if (n_packed == 0)
    return;
  row.buffer_type = kvasir_weights_get_packed_type (self->weights);
  row.n_bytes = n_packed;
  g_array_append_val (rows, row);
}

KvasirTensor *
kvasir_model_get_rope_factors (const KvasirModel *self, gboolean long_context)
{
  if (self->rope_long != NULL && long_context)
    return self->rope_long;
  return self->rope_short != NULL ? self->rope_short : self->rope_freqs;
}

void
kvasir_model_fill_memory_layers (const KvasirModel *self, KvasirMemoryLayer *layers)
{
  for (guint i = 0; i < self->hparams.n_layers; i++)
    {
      const KvasirLayerHparams *layer = &self->hparams.layers[i];

      layers[i] = (KvasirMemoryLayer){ .has_attention = layer->has_attention,
                                       .is_swa = layer->is_swa,
                                       .share = layer->share,
                                       .n_embd_k = layer->n_embd_k,
                                       .n_embd_v = layer->n_embd_v,
                                       .head_dim_k = layer->head_dim_k,
                                       .head_dim_v = layer->head_dim_v,
                                       .n_embd_r = layer->n_embd_r,
                                       .n_embd_s = layer->n_embd_s,
                                       .buffer_type = self->device->buffer_type };
    }
}

void
kvasir_model_build (const KvasirModel *self, KvasirModelBuild *build)
{
  g_return_if_fail (self->arch != NULL);
  self->arch->build (self, build);
}
