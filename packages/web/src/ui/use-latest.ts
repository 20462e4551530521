import { useCallback, useRef } from 'preact/hooks'

/**
 * A function that is the same object in every drawing, and runs what the latest drawing has given. A memoised component
 * that gets it is not drawn again only because the function is new.
 */
export function useLatest<A extends readonly unknown[]>(run: (...args: A) => void): (...args: A) => void {
  const latest = useRef(run)
  latest.current = run
  return useCallback((...args: A) => latest.current(...args), [])
}
