export const densities = ['comfortable', 'compact'] as const
export type Density = (typeof densities)[number]
export const densityKey = 'density'

/** Applies the chosen density. */
export function applyDensity(density: Density = saved()): void {
  document.documentElement.dataset['density'] = density
}

function saved(): Density {
  return localStorage.getItem(densityKey) === 'compact' ? 'compact' : 'comfortable'
}
