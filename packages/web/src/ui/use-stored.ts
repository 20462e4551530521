import { useState } from 'preact/hooks'

/** A choice that this browser keeps. The first of all values counts until a person chooses another one. */
export function useStored<N extends string>(
  key: string,
  all: readonly [N, ...N[]],
): readonly [N, (value: N) => void] {
  const [value, setValue] = useState<N>(
    () => all.find((each) => each === localStorage.getItem(key)) ?? all[0],
  )
  const choose = (next: N) => {
    localStorage.setItem(key, next)
    setValue(next)
  }
  return [value, choose]
}
