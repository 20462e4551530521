/** A straight line through measured points, and how sure its slope is. */
export interface Slope {
  readonly slope: number
  /** The standard error of the slope. */
  readonly error: number
}

export type Point = readonly [x: number, y: number]

/**
 * Least squares. Neighbouring samples of a process resemble each other, so there is less news in them than in as many
 * independent ones: the error is widened by how much what is left over resembles its neighbour.
 */
export function slopeOf(points: readonly Point[]): Slope {
  const n = points.length
  if (n < 3) return { slope: NaN, error: Infinity }
  const meanX = mean(points.map(([x]) => x))
  const meanY = mean(points.map(([, y]) => y))
  const xx = sum(points.map(([x]) => (x - meanX) ** 2))
  const slope = sum(points.map(([x, y]) => (x - meanX) * (y - meanY))) / xx
  const left = points.map(([x, y]) => y - meanY - slope * (x - meanX))
  const squares = sum(left.map((residual) => residual ** 2))
  const plain = Math.sqrt(squares / (n - 2) / xx)
  return { slope, error: plain * widening(left, squares) }
}

function widening(left: readonly number[], squares: number): number {
  if (squares === 0) return 1
  const next = sum(left.slice(1).map((residual, i) => residual * (left[i] ?? 0)))
  // Bounded: a few samples can look like a line among themselves.
  const alike = Math.min(0.9, Math.max(0, next / squares))
  return Math.sqrt((1 + alike) / (1 - alike))
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]) => sum(values) / values.length
