import { useCallback, useRef } from 'preact/hooks'

/**
 * Returns a function that stays the same object in every render, and calls the `run` of the latest render. So a memoised
 * component with this function as a prop is not rendered again because of it.
 */
export function useLatest<A extends readonly unknown[]>(run: (...args: A) => void): (...args: A) => void {
  const latest = useRef(run)
  latest.current = run
  return useCallback((...args: A) => latest.current(...args), [])
}
