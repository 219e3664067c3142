/* The mixers of mamba.h, and the two architectures that have nothing else: mamba (with FalconMamba)
 * and mamba2. x += mixer (rms x); no feed-forward net, no positions. */
#include "engine/model/mamba.h"

#include "engine/model/hybrid.h"

/* ---- numbers ---------------------------------------------------------------------------- */

static gboolean
check_divides (KvasirKeys *keys, const char *name, guint part, guint whole, GError **error)
{
  if (whole % part == 0)
    return TRUE;
  kvasir_keys_name (keys, name);
  return kvasir_keys_fail (keys, error, "a divisor of %u expected, %u found", whole, part);
}

/* The channels of the convolution. */
static guint64
get_n_conv (const KvasirMamba *self)
{
  return self->n_inner + 2 * (guint64) self->n_groups * self->n_state;
}

static gboolean
check_sizes (const KvasirMamba *self, KvasirKeys *keys, GError **error)
{
  const guint64 n_r = (self->n_taps - 1) * get_n_conv (self);
  const guint64 n_s = (guint64) self->n_state * self->n_inner;

  if (self->n_taps < 2)
    {
      kvasir_keys_name (keys, "ssm.conv_kernel");
      return kvasir_keys_fail (keys, error, "2 or more expected, %u found", self->n_taps);
    }
  if (MAX (n_r, n_s) > KVASIR_MAX_WIDTH)
    {
      kvasir_keys_name (keys, "ssm.state_size");
      return kvasir_keys_fail (keys, error,
                               "a state of at most %u values expected, %" G_GUINT64_FORMAT " found",
                               KVASIR_MAX_WIDTH, MAX (n_r, n_s));
    }
  return self->n_groups == 0 ||
         (check_divides (keys, "ssm.time_step_rank", self->n_heads, self->n_inner, error) &&
          check_divides (keys, "ssm.group_count", self->n_groups, self->n_heads, error));
}

gboolean
kvasir_mamba_setup (KvasirModel *model, gboolean has_groups, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  KvasirMamba *self =
      g_malloc0 (sizeof *self + model->hparams.n_layers * sizeof (KvasirMambaBlock));

  model->extra = self;
  if (!kvasir_keys_get_size (&keys, "ssm.conv_kernel", 64, &self->n_taps, error) ||
      !kvasir_keys_get_size (&keys, "ssm.inner_size", KVASIR_MAX_WIDTH, &self->n_inner, error) ||
      !kvasir_keys_get_size (&keys, "ssm.state_size", KVASIR_MAX_WIDTH, &self->n_state, error) ||
      !kvasir_keys_get_size (&keys, "ssm.time_step_rank", KVASIR_MAX_WIDTH, &self->n_heads,
                             error) ||
      !kvasir_keys_get_bool (&keys, "ssm.dt_b_c_rms", &self->norms_dt_b_c, error))
    return FALSE;
  if (has_groups &&
      !kvasir_keys_get_size (&keys, "ssm.group_count", KVASIR_MAX_WIDTH, &self->n_groups, error))
    return FALSE;
  return check_sizes (self, &keys, error);
}

void
kvasir_mamba_keep_state (KvasirModel *model, guint il)
{
  const KvasirMamba *self = model->extra;
  KvasirLayerHparams *layer = &model->hparams.layers[il];

  layer->n_embd_r = (self->n_taps - 1) * (guint) get_n_conv (self);
  layer->n_embd_s = self->n_state * self->n_inner;
}

/* ---- tensors ---------------------------------------------------------------------------- */

/* What both kinds have, the convolution over @n_conv channels and @n_dt biases of delta. */
static gboolean
load_common (KvasirModel *model, gint il, gint64 n_in, gint64 n_dt, GError **error)
{
  KvasirMamba *self = model->extra;
  KvasirMambaBlock *block = &self->blocks[il];
  const gint64 n_embd = model->hparams.n_embd, n_conv = (gint64) get_n_conv (self);
  const gint64 in[2] = { n_embd, n_in }, conv[2] = { self->n_taps, n_conv };
  const gint64 out[2] = { self->n_inner, n_embd };

  return kvasir_load_matrix (model, il, "ssm_in.weight", in, &block->in, error) &&
         kvasir_weights_get_plain (model->weights, il, "ssm_conv1d.weight", conv, &block->conv,
                                   error) &&
         kvasir_load_optional (model, il, "ssm_conv1d.bias", n_conv, &block->conv_bias, error) &&
         kvasir_load_vector (model, il, "ssm_dt.bias", n_dt, &block->dt_bias, error) &&
         kvasir_load_vector (model, il, "ssm_d", n_dt, &block->d, error) &&
         kvasir_load_matrix (model, il, "ssm_out.weight", out, &block->out, error);
}

gboolean
kvasir_load_mamba (KvasirModel *model, gint il, GError **error)
{
  KvasirMamba *self = model->extra;
  KvasirMambaBlock *block = &self->blocks[il];
  const gint64 n_inner = self->n_inner, n_state = self->n_state, rank = self->n_heads;
  const gint64 a[2] = { n_state, n_inner }, x[2] = { n_inner, rank + 2 * n_state };
  const gint64 dt[2] = { rank, n_inner };

  return load_common (model, il, 2 * n_inner, n_inner, error) &&
         kvasir_weights_get_plain (model->weights, il, "ssm_a", a, &block->a, error) &&
         kvasir_load_matrix (model, il, "ssm_x.weight", x, &block->x, error) &&
         kvasir_load_matrix (model, il, "ssm_dt.weight", dt, &block->dt, error) &&
         kvasir_load_optional (model, il, "ssm_dt_norm.weight", rank, &block->dt_norm, error) &&
         kvasir_load_optional (model, il, "ssm_b_norm.weight", n_state, &block->b_norm, error) &&
         kvasir_load_optional (model, il, "ssm_c_norm.weight", n_state, &block->c_norm, error);
}

gboolean
kvasir_mamba_require_norms (KvasirModel *model, gint il, GError **error)
{
  KvasirMamba *self = model->extra;
  KvasirMambaBlock *block = &self->blocks[il];
  const gint64 n_state = self->n_state, rank = self->n_heads;

  return (block->dt_norm != NULL ||
          kvasir_load_vector (model, il, "ssm_dt_norm.weight", rank, &block->dt_norm, error)) &&
         (block->b_norm != NULL ||
          kvasir_load_vector (model, il, "ssm_b_norm.weight", n_state, &block->b_norm, error)) &&
         (block->c_norm != NULL ||
          kvasir_load_vector (model, il, "ssm_c_norm.weight", n_state, &block->c_norm, error));
}

gboolean
kvasir_load_mamba2 (KvasirModel *model, gint il, GError **error)
{
  KvasirMamba *self = model->extra;
  KvasirMambaBlock *block = &self->blocks[il];
  const gint64 n_in = self->n_inner + (gint64) get_n_conv (self) + self->n_heads;
  const gint64 a[2] = { 1, self->n_heads };
  const gint64 norm[2] = { self->n_inner / self->n_groups, self->n_groups };

  if (!load_common (model, il, n_in, self->n_heads, error) ||
      !kvasir_weights_get_plain (model->weights, il, "ssm_a", a, &block->a, error))
    return FALSE;
  return !kvasir_weights_has (model->weights, il, "ssm_norm.weight") ||
         kvasir_weights_get_plain (model->weights, il, "ssm_norm.weight", norm, &block->norm,
                                   error);
}

/* ---- operations ------------------------------------------------------------------------- */

static KvasirTensor *
build_conv (KvasirModelBuild *build, guint il, const KvasirMambaBlock *block, KvasirTensor *x)
{
  KvasirStateSource state = kvasir_build_state_r (build, il, 0);
  x = kvasir_graph_conv (build->graph, "ssm_conv", x, block->conv, block->conv_bias, &state);
  return kvasir_graph_unary (build->graph, "ssm_conv_act", KVASIR_UNARY_SILU, x);
}

static KvasirTensor *
norm_part (const KvasirModel *model,
           KvasirModelBuild *build,
           const char *name,
           KvasirTensor *x,
           KvasirTensor *weight)
{
  const KvasirMamba *self = model->extra;

  if (weight == NULL && !self->norms_dt_b_c)
    return x;
  return kvasir_graph_rms_norm (build->graph, name, x, weight, model->hparams.rms_eps);
}

KvasirTensor *
kvasir_build_mamba (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirMamba *self = model->extra;
  const KvasirMambaBlock *block = &self->blocks[il];
  const gint64 n_inner = self->n_inner, n_state = self->n_state, rank = self->n_heads;
  const KvasirStateSource state = kvasir_build_state_s (build, il);
  KvasirGraph *g = build->graph;
  KvasirTensor *uz, *u, *z, *dt, *b, *c;

  uz = kvasir_graph_mul_mat (g, "ssm_in", block->in, x, NULL);
  u = build_conv (build, il, block, kvasir_graph_slice (g, uz, 0, n_inner));
  z = kvasir_graph_slice (g, uz, n_inner, n_inner);
  x = kvasir_graph_mul_mat (g, "ssm_x", block->x, u, NULL);
  dt = norm_part (model, build, "ssm_dt_norm", kvasir_graph_slice (g, x, 0, rank), block->dt_norm);
  b = norm_part (model, build, "ssm_b_norm", kvasir_graph_slice (g, x, rank, n_state),
                 block->b_norm);
  c = norm_part (model, build, "ssm_c_norm", kvasir_graph_slice (g, x, rank + n_state, n_state),
                 block->c_norm);
  dt = kvasir_graph_mul_mat (g, "ssm_dt", block->dt, dt, block->dt_bias);

  KvasirTensor *const sources[6] = {
    kvasir_graph_split (g, u, 1),       dt,      block->a, kvasir_graph_split (g, b, n_state),
    kvasir_graph_split (g, c, n_state), block->d
  };
  x = kvasir_graph_join (g, kvasir_graph_ssm_scan (g, "ssm_scan", sources, &state));
  x = kvasir_graph_glu (g, "ssm_gate", KVASIR_UNARY_SILU, z, x);
  return kvasir_graph_mul_mat (g, "ssm_out", block->out, x, NULL);
}

/* Each group of values has a norm of its own, and weights of its own. */
static KvasirTensor *
norm_groups (const KvasirModel *model, KvasirModelBuild *build, KvasirTensor *x, KvasirTensor *norm)
{
  KvasirGraph *g = build->graph;

  x = kvasir_graph_split (g, x, norm->ne[0]);
  x = kvasir_graph_rms_norm (g, "ssm_norm", x, NULL, model->hparams.rms_eps);
  return kvasir_graph_join (g, kvasir_graph_mul (g, "ssm_norm_scaled", x, norm));
}

KvasirTensor *
kvasir_build_mamba2 (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirMamba *self = model->extra;
  const KvasirMambaBlock *block = &self->blocks[il];
  const gint64 n_inner = self->n_inner, n_conv = (gint64) get_n_conv (self);
  const gint64 n_bc = (gint64) self->n_groups * self->n_state;
  const KvasirStateSource state = kvasir_build_state_s (build, il);
  KvasirGraph *g = build->graph;
  KvasirTensor *in, *z, *conv, *dt;

  in = kvasir_graph_mul_mat (g, "ssm_in", block->in, x, NULL);
  z = kvasir_graph_slice (g, in, 0, n_inner);
  conv = build_conv (build, il, block, kvasir_graph_slice (g, in, n_inner, n_conv));
  dt = kvasir_graph_slice (g, in, n_inner + n_conv, self->n_heads);
  dt = kvasir_graph_add (g, "ssm_dt", dt, block->dt_bias);

  x = kvasir_graph_slice (g, conv, 0, n_inner);
  KvasirTensor *b = kvasir_graph_slice (g, conv, n_inner, n_bc);
  KvasirTensor *c = kvasir_graph_slice (g, conv, n_inner + n_bc, n_bc);
  KvasirTensor *const sources[6] = { kvasir_graph_split (g, x, n_inner / self->n_heads),
                                     dt,
                                     block->a,
                                     kvasir_graph_split (g, b, self->n_state),
                                     kvasir_graph_split (g, c, self->n_state),
                                     block->d };
  x = kvasir_graph_join (g, kvasir_graph_ssm_scan (g, "ssm_scan", sources, &state));
  x = kvasir_graph_glu (g, "ssm_gate", KVASIR_UNARY_SILU, z, x);
  if (block->norm != NULL)
    x = norm_groups (model, build, x, block->norm);
  return kvasir_graph_mul_mat (g, "ssm_out", block->out, x, NULL);
}

/* ---- architectures ---------------------------------------------------------------------- */

/* Every layer keeps a state and none attends, whatever the file says of heads. */
static gboolean
setup (KvasirModel *model, gboolean has_groups, GError **error)
{
  KvasirHparams *hp = &model->hparams;

  if (!kvasir_mamba_setup (model, has_groups, error))
    return FALSE;
  hp->memory_class = KVASIR_MEMORY_RECURRENT;
  for (guint il = 0; il < hp->n_layers; il++)
    {
      hp->layers[il].has_attention = FALSE;
      kvasir_mamba_keep_state (model, il);
    }
  kvasir_hparams_fit_rows (hp);
  return TRUE;
}

static gboolean
setup_mamba (KvasirModel *model, GError **error)
{
  return setup (model, FALSE, error);
}

static gboolean
setup_mamba2 (KvasirModel *model, GError **error)
{
  return setup (model, TRUE, error);
}

static const KvasirHybrid mamba = { .load_mixer = kvasir_load_mamba,
                                    .build_mixer = kvasir_build_mamba };
static const KvasirHybrid mamba2 = { .load_mixer = kvasir_load_mamba2,
                                     .build_mixer = kvasir_build_mamba2 };

static gboolean
load_mamba (KvasirModel *model, GError **error)
{
  return kvasir_load_hybrid (model, &mamba, error);
}

static gboolean
load_mamba2 (KvasirModel *model, GError **error)
{
  return kvasir_load_hybrid (model, &mamba2, error);
}

static void
build_mamba (const KvasirModel *model, KvasirModelBuild *build)
{
  kvasir_build_hybrid (model, build, &mamba, kvasir_build_embedding (model, build));
}

static void
build_mamba2 (const KvasirModel *model, KvasirModelBuild *build)
{
  kvasir_build_hybrid (model, build, &mamba2, kvasir_build_embedding (model, build));
}

const KvasirArch kvasir_arch_mamba = {
  .name = "mamba",
  .may_lack_attention = TRUE,
  .setup = setup_mamba,
  .load = load_mamba,
  .build = build_mamba,
};

const KvasirArch kvasir_arch_mamba2 = {
  .name = "mamba2",
  .may_lack_attention = TRUE,
  .setup = setup_mamba2,
  .load = load_mamba2,
  .build = build_mamba2,
};
