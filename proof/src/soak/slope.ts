/** The slope of a line through measured points, with its standard error. */
export interface Slope {
  readonly slope: number
  /** The standard error of the slope. */
  readonly error: number
}

export type Point = readonly [x: number, y: number]

/**
 * Fits a line by least squares. Neighbouring samples of a process are correlated and so carry less information than
 * independent samples. The standard error is therefore increased according to the autocorrelation of the residuals.
 */
export function slopeOf(points: readonly Point[]): Slope {
  const n = points.length
  if (n < 3) return { slope: NaN, error: Infinity }
  const meanX = mean(points.map(([x]) => x))
  const meanY = mean(points.map(([, y]) => y))
  const xx = sum(points.map(([x]) => (x - meanX) ** 2))
  const slope = sum(points.map(([x, y]) => (x - meanX) * (y - meanY))) / xx
  const residuals = points.map(([x, y]) => y - meanY - slope * (x - meanX))
  const squares = sum(residuals.map((residual) => residual ** 2))
  const plain = Math.sqrt(squares / (n - 2) / xx)
  return { slope, error: plain * widening(residuals, squares) }
}

function widening(residuals: readonly number[], squares: number): number {
  if (squares === 0) return 1
  const next = sum(residuals.slice(1).map((residual, i) => residual * (residuals[i] ?? 0)))
  // The autocorrelation is limited, because with few samples it can be close to 1 by chance.
  const autocorrelation = Math.min(0.9, Math.max(0, next / squares))
  return Math.sqrt((1 + autocorrelation) / (1 - autocorrelation))
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]) => sum(values) / values.length
