#include "engine/model/layers.h"

#include "engine/error.h"

/* Shared experts of a layer; models have a few. */
#define MAX_SHARED 1024

/* Gate and up in one tensor, the gate first. */
static gboolean
load_fused_up (KvasirModel *model, gint il, guint n_ff, KvasirGluBlock *ffn, GError **error)
{
  const gint64 ne[2] = { model->hparams.n_embd, 2 * (gint64) n_ff };
  KvasirTensor *whole;

  if (!kvasir_load_matrix (model, il, "ffn_up.weight", ne, &whole, error))
    return FALSE;
  ffn->gate = kvasir_weights_slice (model->weights, whole, 0, n_ff);
  ffn->up = kvasir_weights_slice (model->weights, whole, n_ff, n_ff);
  return TRUE;
}

gboolean
kvasir_load_ffn (
    KvasirModel *model, gint il, guint n_ff, gboolean fused, KvasirGluBlock *ffn, GError **error)
{
  KvasirWeights *w = model->weights;
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 up[2] = { n_embd, n_ff }, down[2] = { n_ff, n_embd };
  const gboolean needs_biases = model->arch->needs_biases;
  gboolean ok;

  ok = kvasir_weights_get_optional (w, il, "ffn_gate.weight", up, &ffn->gate, error);
  if (ok && ffn->gate == NULL && fused)
    ok = load_fused_up (model, il, n_ff, ffn, error);
  else
    ok = ok && kvasir_weights_get (w, il, "ffn_up.weight", up, &ffn->up, error);
  return ok && kvasir_weights_get (w, il, "ffn_down.weight", down, &ffn->down, error) &&
         kvasir_load_optional (model, il, "ffn_gate.bias", n_ff, &ffn->gate_bias, error) &&
         kvasir_load_bias (model, il, "ffn_up.bias", n_ff, needs_biases, &ffn->up_bias, error) &&
         kvasir_load_bias (model, il, "ffn_down.bias", n_embd, needs_biases, &ffn->down_bias,
                           error);
}

/* Numbers of the mixture; those that are 0 in @block are expected in the file. */
static gboolean
read_moe (KvasirModel *model, KvasirMoeBlock *moe, guint *n_experts, guint *n_ff, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  guint gating = moe->gating != 0 ? moe->gating : KVASIR_GATING_SOFTMAX;

  *n_experts = 0;
  *n_ff = model->hparams.layers[0].n_ff;
  moe->n_groups = moe->n_groups_used = 1;
  if (!kvasir_keys_get_size (&keys, "expert_count", 1u << 16, n_experts, error) ||
      !kvasir_keys_get_size (&keys, "expert_used_count", *n_experts, &moe->n_used, error) ||
      !kvasir_keys_get_size (&keys, "expert_feed_forward_length", KVASIR_MAX_WIDTH, n_ff, error) ||
      !kvasir_keys_get_size (&keys, "expert_group_count", *n_experts, &moe->n_groups, error) ||
      !kvasir_keys_get_size (&keys, "expert_group_used_count", moe->n_groups, &moe->n_groups_used,
                             error) ||
      !kvasir_keys_get_float (&keys, "expert_weights_scale", &moe->scale, error) ||
      !kvasir_keys_get_bool (&keys, "expert_weights_norm", &moe->normalised, error) ||
      !kvasir_keys_get_size (&keys, "expert_gating_func", KVASIR_GATING_SOFTMAX_CHOSEN, &gating,
                             error))
    return FALSE;
  moe->gating = (KvasirGating) gating;
  return TRUE;
}

static gboolean
load_experts (
    KvasirModel *model, gint il, const gint64 sizes[3], KvasirMoeBlock *moe, GError **error)
{
  KvasirWeights *w = model->weights;
  const gint64 up[3] = { sizes[0], sizes[1], sizes[2] };
  const gint64 down[3] = { sizes[1], sizes[0], sizes[2] };
  const gint64 both[3] = { sizes[0], 2 * sizes[1], sizes[2] };
  KvasirTensor *whole;

  if (kvasir_weights_has (w, il, "ffn_gate_up_exps.weight"))
    {
      if (!kvasir_weights_get_stack (w, il, "ffn_gate_up_exps.weight", both, FALSE, &whole, error))
        return FALSE;
      moe->gate = kvasir_weights_slice (w, whole, 0, sizes[1]);
      moe->up = kvasir_weights_slice (w, whole, sizes[1], sizes[1]);
    }
  else if (!kvasir_weights_get_stack (w, il, "ffn_gate_exps.weight", up, TRUE, &moe->gate, error) ||
           !kvasir_weights_get_stack (w, il, "ffn_up_exps.weight", up, FALSE, &moe->up, error))
    return FALSE;
  return kvasir_weights_get_stack (w, il, "ffn_down_exps.weight", down, FALSE, &moe->down, error);
}

/* The sum of experts has no place for a bias behind a scale. */
static gboolean
check_scaled (KvasirModel *model, const KvasirTensor *t, const KvasirTensor *bias, GError **error)
{
  if (t == NULL || t->scale == NULL || bias == NULL)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: %s: experts with a scale and without a bias expected, %s found",
               model->info.path, t->scale->name, bias->name);
  return FALSE;
}

static gboolean
load_expert_biases (
    KvasirModel *model, gint il, const gint64 sizes[3], KvasirMoeBlock *moe, GError **error)
{
  KvasirWeights *w = model->weights;
  const gint64 wide[2] = { sizes[1], sizes[2] }, narrow[2] = { sizes[0], sizes[2] };

  return kvasir_weights_get_optional (w, il, "ffn_gate_exps.bias", wide, &moe->gate_bias, error) &&
         kvasir_weights_get_optional (w, il, "ffn_up_exps.bias", wide, &moe->up_bias, error) &&
         kvasir_weights_get_optional (w, il, "ffn_down_exps.bias", narrow, &moe->down_bias,
                                      error) &&
         check_scaled (model, moe->gate, moe->gate_bias, error) &&
         check_scaled (model, moe->up, moe->up_bias, error) &&
         check_scaled (model, moe->down, moe->down_bias, error);
}

/* KvasirMoeBlock's numbers, then its tensors. */
static gboolean
load_moe (KvasirModel *model, gint il, KvasirMoeBlock *moe, GError **error)
{
  guint n_experts, n_ff;

  if (!read_moe (model, moe, &n_experts, &n_ff, error))
    return FALSE;

  const gint64 n_embd = model->hparams.n_embd;
  const gint64 router[2] = { n_embd, n_experts };
  const gint64 sizes[3] = { n_embd, n_ff, n_experts };

  return kvasir_load_matrix (model, il, "ffn_gate_inp.weight", router, &moe->router, error) &&
         kvasir_load_optional (model, il, "ffn_gate_inp.bias", n_experts, &moe->router_bias,
                               error) &&
         kvasir_load_optional (model, il, "exp_probs_b.bias", n_experts, &moe->choice_bias,
                               error) &&
         load_experts (model, il, sizes, moe, error) &&
         load_expert_biases (model, il, sizes, moe, error);
}

gboolean
kvasir_load_gated_moe (KvasirModel *model, gint il, KvasirMoeBlock *moe, GError **error)
{
  if (!load_moe (model, il, moe, error))
    return FALSE;
  return moe->gate != NULL || kvasir_weights_get_stack (model->weights, il, "ffn_gate_exps.weight",
                                                        moe->up->ne, FALSE, &moe->gate, error);
}

gboolean
kvasir_load_shared (KvasirModel *model,
                    gint il,
                    guint n_ff,
                    gboolean has_gate,
                    KvasirGluBlock *block,
                    GError **error)
{
  KvasirWeights *w = model->weights;
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 up[2] = { n_embd, n_ff }, down[2] = { n_ff, n_embd };

  return (!has_gate ||
          kvasir_weights_get (w, il, "ffn_gate_shexp.weight", up, &block->gate, error)) &&
         kvasir_weights_get (w, il, "ffn_up_shexp.weight", up, &block->up, error) &&
         kvasir_weights_get (w, il, "ffn_down_shexp.weight", down, &block->down, error);
}

/* Of all shared experts of layer @il together; 0: it has none. */
static gboolean
read_shared_width (
    KvasirModel *model, gint il, const KvasirNetForm *form, guint64 *width, GError **error)
{
  static const char *const name = "expert_shared_feed_forward_length";
  const guint n_ff = model->hparams.layers[il].n_ff;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  guint each = n_ff, n_shared = 1;

  *width = 0;
  if (form->shared == KVASIR_SHARED_NONE ||
      (form->shared == KVASIR_SHARED_IF_ANY &&
       !kvasir_weights_has (model->weights, il, "ffn_up_shexp.weight")))
    return TRUE;
  if (form->shared == KVASIR_SHARED_EACH)
    {
      n_shared = 0;
      if (!kvasir_keys_get_count (&keys, "expert_shared_count", MAX_SHARED, &n_shared, error) ||
          !kvasir_keys_get_size (&keys, "expert_feed_forward_length", KVASIR_MAX_WIDTH, &each,
                                 error))
        return FALSE;
    }
  if (!kvasir_keys_get_size (&keys, name, KVASIR_MAX_WIDTH, &each, error))
    return FALSE;
  *width = (guint64) each * n_shared;
  return *width <= KVASIR_MAX_WIDTH ||
         kvasir_keys_fail (&keys, error, "%u of %u shared experts: at most %u expected together",
                           each, n_shared, KVASIR_MAX_WIDTH);
}

static gboolean
load_beside (
    KvasirModel *model, gint il, const KvasirNetForm *form, KvasirLayer *layer, GError **error)
{
  guint64 width;

  if (!read_shared_width (model, il, form, &width, error))
    return FALSE;
  if (width == 0)
    return TRUE;
  return kvasir_load_shared (model, il, (guint) width, form->has_gate, &layer->shared, error) &&
         (!form->gates_shared ||
          kvasir_load_vector (model, il, "ffn_gate_inp_shexp.weight", model->hparams.n_embd,
                              &layer->shared_gate, error));
}

static gboolean
find_kind (
    KvasirModel *model, gint il, const KvasirNetForm *form, gboolean *has_experts, GError **error)
{
  const guint n_layers = model->hparams.n_layers;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  guint n_dense = 0, step = 1;

  *has_experts = kvasir_weights_has (model->weights, il, "ffn_gate_inp.weight");
  if (!form->counts_dense)
    return TRUE;
  if (!kvasir_keys_get_count (&keys, "leading_dense_block_count", n_layers, &n_dense, error) ||
      !kvasir_keys_get_size (&keys, "interleave_moe_layer_step", KVASIR_MAX_LAYERS, &step, error))
    return FALSE;
  *has_experts = (guint) il >= n_dense && ((guint) il + 1) % step == 0;
  return TRUE;
}

static gboolean
load_ffn_norm (KvasirModel *model, gint il, const char *name, KvasirLayer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;

  if (model->hparams.has_weightless_norms)
    return TRUE;
  if (name != NULL)
    return kvasir_load_vector (model, il, name, n_embd, &layer->ffn_norm, error);
  return kvasir_load_vector (model, il, "ffn_norm.weight", n_embd, &layer->ffn_norm, error) &&
         (!model->hparams.has_layer_norms ||
          kvasir_load_bias (model, il, "ffn_norm.bias", n_embd, model->arch->needs_norm_biases,
                            &layer->ffn_norm_bias, error));
}

static gboolean
load_dense (
    KvasirModel *model, gint il, const KvasirNetForm *form, KvasirGluBlock *ffn, GError **error)
{
  const guint n_ff = model->hparams.layers[il].n_ff;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  if (n_ff > 0)
    return kvasir_load_ffn (model, il, n_ff, form->has_gate, ffn, error);
  kvasir_keys_name (&keys, "feed_forward_length");
  return kvasir_keys_fail (&keys, error, "layer %d: 1 or more expected, 0 found", il);
}

gboolean
kvasir_load_net (
    KvasirModel *model, gint il, const KvasirNetForm *form, KvasirLayer *layer, GError **error)
{
  gboolean has_experts;

  if (!load_ffn_norm (model, il, form->norm, layer, error) ||
      !find_kind (model, il, form, &has_experts, error))
    return FALSE;
  layer->moe = form->moe;
  layer->ffn.kind = layer->moe.kind = layer->shared.kind = form->kind;
  if (!has_experts)
    return load_dense (model, il, form, &layer->ffn, error);
  return (form->has_gate ? kvasir_load_gated_moe (model, il, &layer->moe, error)
                         : load_moe (model, il, &layer->moe, error)) &&
         load_beside (model, il, form, layer, error);
}
