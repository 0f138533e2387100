// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/canvas.h"

#include <cairo.h>

#include <numbers>

#include "convoy/base/error.h"

namespace convoy {
namespace {

void choose_font(cairo_t* pen, const TextStyle& style) {
  cairo_select_font_face(pen, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(pen, style.size);
}

double advance(cairo_t* pen, const std::string& text) {
  cairo_text_extents_t extents;
  cairo_text_extents(pen, text.c_str(), &extents);
  return extents.x_advance;
}

cairo_status_t append(void* bytes, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

struct Canvas::Surface {
  Surface(int width, int height)
      : image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)),
        pen(cairo_create(image)) {
    // A cairo object that could not be created has an error status, and ignores calls.
    if (cairo_status(pen) == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
    check(cairo_status(pen) == CAIRO_STATUS_SUCCESS,
          "cairo can create a picture of this size");
  }
  ~Surface() {
    cairo_destroy(pen);
    cairo_surface_destroy(image);
  }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;

  void use(const Colour& colour) const {
    cairo_set_source_rgb(pen, colour.red, colour.green, colour.blue);
  }

  cairo_surface_t* image;
  cairo_t* pen;
};

Canvas::Canvas(int width, int height)
    : surface_(std::make_unique<Surface>(width, height)) {
  surface_->use(kWhite);
  cairo_paint(surface_->pen);
}

Canvas::~Canvas() = default;

void Canvas::fill(const Box& box, const Colour& colour) {
  surface_->use(colour);
  cairo_rectangle(surface_->pen, box.x, box.y, box.width, box.height);
  cairo_fill(surface_->pen);
}

void Canvas::frame(const Box& box, const Colour& colour) {
  surface_->use(colour);
  cairo_set_line_width(surface_->pen, 1);
  cairo_rectangle(surface_->pen, box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
  cairo_stroke(surface_->pen);
}

void Canvas::text(double x, double y, const std::string& text, const TextStyle& style) {
  cairo_t* pen = surface_->pen;
  cairo_save(pen);
  surface_->use(style.colour);
  choose_font(pen, style);
  cairo_translate(pen, x, y);
  cairo_rotate(pen, -style.degrees * std::numbers::pi / 180);
  cairo_move_to(pen, -style.anchor * advance(pen, text), 0);
  cairo_show_text(pen, text.c_str());
  cairo_restore(pen);
}

std::string Canvas::png() const {
  check(cairo_status(surface_->pen) == CAIRO_STATUS_SUCCESS, "drawing succeeded");
  std::string bytes;
  const cairo_status_t status =
      cairo_surface_write_to_png_stream(surface_->image, &append, &bytes);
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  check(status == CAIRO_STATUS_SUCCESS, "a picture can be written to memory");
  return bytes;
}

double text_width(const std::string& text, const TextStyle& style) {
  cairo_surface_t* image = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  cairo_t* pen = cairo_create(image);
  choose_font(pen, style);
  const double width = advance(pen, text);
  cairo_destroy(pen);
  cairo_surface_destroy(image);
  return width;
}

}  // namespace convoy
