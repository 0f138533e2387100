// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/messages.h"

namespace convoy::messages {
namespace {

constexpr int kGraphVersion = 22;  // GraphDef version; any TensorBoard reads it

TensorShapeProto shape_of(std::span<const std::int64_t> sizes) {
  TensorShapeProto shape;
  for (const std::int64_t size : sizes) shape.add_dim()->set_size(size);
  return shape;
}

SummaryMetadata metadata_of(const char* plugin, std::string content) {
  SummaryMetadata metadata;
  metadata.mutable_plugin_data()->set_plugin_name(plugin);
  metadata.mutable_plugin_data()->set_content(std::move(content));
  return metadata;
}

/// A placeholder is an input, a variable is a parameter; both call their type `dtype` and
/// have a shape attribute.
bool is_source(const GraphNode& node) { return node.inputs.empty(); }

NodeDef node_of(const GraphNode& node) {
  NodeDef message;
  message.set_name(node.name);
  message.set_op(node.op);
  for (const std::string& input : node.inputs) message.add_input(input);
  auto& attributes = *message.mutable_attr();
  attributes[is_source(node) ? "dtype" : "T"].set_type(DT_FLOAT);
  if (is_source(node)) *attributes["shape"].mutable_shape() = shape_of(node.shape);
  *attributes["_output_shapes"].mutable_list()->add_shape() = shape_of(node.shape);
  for (const auto& [name, value] : node.details) attributes[name].set_s(value);
  return message;
}

struct SetValue {
  HParamValue& message;

  void operator()(double value) const { message.set_number_value(value); }
  void operator()(const std::string& value) const { message.set_string_value(value); }
  void operator()(bool value) const { message.set_bool_value(value); }
};

struct TypeOf {
  HParamType operator()(double) const { return DATA_TYPE_FLOAT64; }
  HParamType operator()(const std::string&) const { return DATA_TYPE_STRING; }
  HParamType operator()(bool) const { return DATA_TYPE_BOOL; }
};

}  // namespace

HistogramProto histogram(const Histogram& histogram) {
  HistogramProto message;
  message.set_min(histogram.least);
  message.set_max(histogram.most);
  message.set_num(static_cast<double>(histogram.count));
  message.set_sum(histogram.sum);
  message.set_sum_squares(histogram.sum_of_squares);
  for (const HistogramBucket& bucket : histogram.buckets) {
    message.add_bucket_limit(bucket.limit);
    message.add_bucket(static_cast<double>(bucket.count));
  }
  return message;
}

Summary::Value text(std::string_view markdown) {
  Summary::Value value;
  *value.mutable_metadata() = metadata_of("text", "");
  value.mutable_tensor()->set_dtype(DT_STRING);
  value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(1);
  value.mutable_tensor()->add_string_val(std::string(markdown));
  return value;
}

GraphDef graph(std::span<const GraphNode> nodes) {
  GraphDef message;
  for (const GraphNode& node : nodes) *message.add_node() = node_of(node);
  message.mutable_versions()->set_producer(kGraphVersion);
  return message;
}

Summary::Value hparams(const HParamsPluginData& data) {
  Summary::Value value;
  *value.mutable_metadata() = metadata_of("hparams", data.SerializeAsString());
  // Everything is in the metadata, but TensorBoard drops a value without a tensor.
  value.mutable_tensor()->set_dtype(DT_FLOAT);
  value.mutable_tensor()->mutable_tensor_shape();
  value.mutable_tensor()->add_float_val(0);
  return value;
}

HParamsPluginData experiment(const Hparams& hparams, std::span<const std::string> metrics,
                             double time) {
  HParamsPluginData data;
  Experiment& message = *data.mutable_experiment();
  message.set_time_created_secs(time);
  for (const auto& [name, value] : hparams) {
    HParamInfo& info = *message.add_hparam_infos();
    info.set_name(name);
    info.set_type(std::visit(TypeOf{}, value));
  }
  for (const std::string& tag : metrics) {
    message.add_metric_infos()->mutable_name()->set_tag(tag);
  }
  return data;
}

HParamsPluginData session_start(const Hparams& hparams, double time) {
  HParamsPluginData data;
  SessionStartInfo& message = *data.mutable_session_start_info();
  message.set_start_time_secs(time);
  for (const auto& [name, value] : hparams) {
    std::visit(SetValue{(*message.mutable_hparams())[name]}, value);
  }
  return data;
}

HParamsPluginData session_end(bool success, double time) {
  HParamsPluginData data;
  data.mutable_session_end_info()->set_status(success ? STATUS_SUCCESS : STATUS_FAILURE);
  data.mutable_session_end_info()->set_end_time_secs(time);
  return data;
}

}  // namespace convoy::messages
