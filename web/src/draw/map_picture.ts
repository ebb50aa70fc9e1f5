// SPDX-License-Identifier: Apache-2.0
//
// A picture of all GPUs at zoom 1, one colour each, that is scaled while the viewer looks at it from far
// away. Cost: of a new picture, O(its points); of a frame, one image.
import { kLooks } from '../model/map_looks';
import type { Camera } from './map_camera';
import { nodeAt } from './map_layout';
import type { MapScene } from './map_paint';

export class MapPicture {
  readonly #canvas = document.createElement('canvas');
  #points: ImageData | undefined;
  #of: unknown[] = []; // what it was painted of

  draw(context: CanvasRenderingContext2D, scene: MapScene, camera: Camera): void {
    const of = [scene.layout, scene.looks, scene.palette, scene.isDim];
    if (of.some((one, at) => one !== this.#of[at])) {
      this.#of = of;
      this.#paint(scene);
    }
    const { width, height } = this.#canvas;
    const { x, y, scale } = camera;
    context.imageSmoothingEnabled = scale < 1;
    context.drawImage(this.#canvas, -x * scale, -y * scale, width * scale, height * scale);
  }

  #paint({ layout, looks, palette, isDim }: MapScene): void {
    const width = Math.max(1, Math.ceil(layout.width));
    const height = Math.max(1, Math.ceil(layout.height));
    const context = this.#canvas.getContext('2d') as CanvasRenderingContext2D;
    if (!this.#points || this.#points.width !== width || this.#points.height !== height) {
      this.#canvas.width = width;
      this.#canvas.height = height;
      this.#points = context.createImageData(width, height);
    }
    const points = new Uint32Array(this.#points.data.buffer);
    points.fill(0);
    const { w, h } = layout.tile;
    for (const rack of layout.racks) {
      for (const node of rack.nodes) {
        const corner = nodeAt(layout, node);
        const from = layout.first[node] as number;
        const many = (layout.first[node + 1] as number) - from;
        for (let index = 0; index < many; ++index) {
          const dim = isDim?.[from + index] ? kLooks : 0;
          const colour = palette.packed[(looks.gpus[from + index] as number) + dim] as number;
          const x = corner.x + (index % layout.gpusAcross) * layout.pitch.x;
          const y = corner.y + Math.floor(index / layout.gpusAcross) * layout.pitch.y;
          for (let row = y; row < y + h; ++row) points.fill(colour, row * width + x, row * width + x + w);
        }
      }
    }
    context.putImageData(this.#points, 0, 0);
  }
}
