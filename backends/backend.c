#include "backends/backend.h"

typedef struct
{
  const char *name;
  int32_t block_len;
  int32_t block_bytes;
} TypeInfo;

/* Ids that are missing here were removed from the format and must be refused. */
static const TypeInfo type_infos[KVASIR_N_TYPES] = {
  [KVASIR_TYPE_F32] = { "f32", 1, 4 },
  [KVASIR_TYPE_F16] = { "f16", 1, 2 },
  [KVASIR_TYPE_Q4_0] = { "q4_0", 32, 18 },
  [KVASIR_TYPE_Q4_1] = { "q4_1", 32, 20 },
  [KVASIR_TYPE_Q5_0] = { "q5_0", 32, 22 },
  [KVASIR_TYPE_Q5_1] = { "q5_1", 32, 24 },
  [KVASIR_TYPE_Q8_0] = { "q8_0", 32, 34 },
  [KVASIR_TYPE_Q8_1] = { "q8_1", 32, 36 },
  [KVASIR_TYPE_Q2_K] = { "q2_K", 256, 84 },
  [KVASIR_TYPE_Q3_K] = { "q3_K", 256, 110 },
  [KVASIR_TYPE_Q4_K] = { "q4_K", 256, 144 },
  [KVASIR_TYPE_Q5_K] = { "q5_K", 256, 176 },
  [KVASIR_TYPE_Q6_K] = { "q6_K", 256, 210 },
  [KVASIR_TYPE_Q8_K] = { "q8_K", 256, 292 },
  [KVASIR_TYPE_IQ2_XXS] = { "iq2_xxs", 256, 66 },
  [KVASIR_TYPE_IQ2_XS] = { "iq2_xs", 256, 74 },
  [KVASIR_TYPE_IQ3_XXS] = { "iq3_xxs", 256, 98 },
  [KVASIR_TYPE_IQ1_S] = { "iq1_s", 256, 50 },
  [KVASIR_TYPE_IQ4_NL] = { "iq4_nl", 32, 18 },
  [KVASIR_TYPE_IQ3_S] = { "iq3_s", 256, 110 },
  [KVASIR_TYPE_IQ2_S] = { "iq2_s", 256, 82 },
  [KVASIR_TYPE_IQ4_XS] = { "iq4_xs", 256, 136 },
  [KVASIR_TYPE_I8] = { "i8", 1, 1 },
  [KVASIR_TYPE_I16] = { "i16", 1, 2 },
  [KVASIR_TYPE_I32] = { "i32", 1, 4 },
  [KVASIR_TYPE_I64] = { "i64", 1, 8 },
  [KVASIR_TYPE_F64] = { "f64", 1, 8 },
  [KVASIR_TYPE_IQ1_M] = { "iq1_m", 256, 56 },
  [KVASIR_TYPE_BF16] = { "bf16", 1, 2 },
  [KVASIR_TYPE_TQ1_0] = { "tq1_0", 256, 54 },
  [KVASIR_TYPE_TQ2_0] = { "tq2_0", 256, 66 },
  [KVASIR_TYPE_MXFP4] = { "mxfp4", 32, 17 },
  [KVASIR_TYPE_NVFP4] = { "nvfp4", 64, 36 },
  [KVASIR_TYPE_Q1_0] = { "q1_0", 128, 18 },
  [KVASIR_TYPE_Q2_0] = { "q2_0", 64, 18 },
};

static const char *const op_names[KVASIR_N_OPS] = {
  [KVASIR_OP_NONE] = "none",
  [KVASIR_OP_VIEW] = "view",
  [KVASIR_OP_GET_ROWS] = "get_rows",
  [KVASIR_OP_RMS_NORM] = "rms_norm",
  [KVASIR_OP_MUL_MAT] = "mul_mat",
  [KVASIR_OP_ADD] = "add",
  [KVASIR_OP_MUL] = "mul",
  [KVASIR_OP_SCALE] = "scale",
  [KVASIR_OP_UNARY] = "unary",
  [KVASIR_OP_GLU] = "glu",
  [KVASIR_OP_ROPE] = "rope",
  [KVASIR_OP_SET_ROWS] = "set_rows",
  [KVASIR_OP_ATTENTION] = "attention",
  [KVASIR_OP_ROPE_SHIFT] = "rope_shift",
  [KVASIR_OP_CPY] = "cpy",
  [KVASIR_OP_NORM] = "norm",
  [KVASIR_OP_L2_NORM] = "l2_norm",
  [KVASIR_OP_MATCH_NORM] = "match_norm",
  [KVASIR_OP_SOFTMAX] = "softmax",
  [KVASIR_OP_SHARES] = "shares",
  [KVASIR_OP_CLAMP] = "clamp",
  [KVASIR_OP_CONCAT] = "concat",
  [KVASIR_OP_HADAMARD] = "hadamard",
  [KVASIR_OP_TEMPERATURE] = "temperature",
  [KVASIR_OP_GAUSS_RELU] = "gauss_relu",
  [KVASIR_OP_TOP_K] = "top_k",
  [KVASIR_OP_GATHER] = "gather",
  [KVASIR_OP_MUL_MAT_ID] = "mul_mat_id",
  [KVASIR_OP_WEIGHTED_SUM] = "weighted_sum",
  [KVASIR_OP_CONV] = "conv",
  [KVASIR_OP_SSM_SCAN] = "ssm_scan",
  [KVASIR_OP_WKV7] = "wkv7",
  [KVASIR_OP_DELTA] = "delta",
};

static const TypeInfo *
get_type_info (int type)
{
  static const TypeInfo none = { NULL, 0, 0 };

  if (type < 0 || type >= KVASIR_N_TYPES)
    return &none;
  return &type_infos[type];
}

const char *
kvasir_type_get_name (int type)
{
  return get_type_info (type)->name;
}

int64_t
kvasir_type_get_block_len (int type)
{
  return get_type_info (type)->block_len;
}

size_t
kvasir_type_get_block_bytes (int type)
{
  return (size_t) get_type_info (type)->block_bytes;
}

size_t
kvasir_type_get_row_bytes (int type, int64_t n_elements)
{
  const TypeInfo *info = get_type_info (type);

  if (info->block_len == 0)
    return 0;
  return (size_t) (n_elements / info->block_len) * (size_t) info->block_bytes;
}

const char *
kvasir_op_get_name (KvasirOp op)
{
  if ((int) op < 0 || op >= KVASIR_N_OPS)
    return NULL;
  return op_names[op];
}

const char *
kvasir_status_get_text (KvasirStatus status)
{
  switch (status)
    {
    case KVASIR_STATUS_OK:
      return "no error";
    case KVASIR_STATUS_ABORTED:
      return "stopped on request";
    case KVASIR_STATUS_NO_MEMORY:
      return "not enough memory";
    case KVASIR_STATUS_UNSUPPORTED:
      return "operation not supported by the device";
    case KVASIR_STATUS_DEVICE_LOST:
      return "the device was lost";
    case KVASIR_STATUS_FAILED:
      return "the device failed";
    }
  return "unknown status";
}
