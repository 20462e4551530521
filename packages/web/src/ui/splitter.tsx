import { useLayoutEffect, useRef } from 'preact/hooks'

interface Props {
  /** What the split divides, for screen readers. */
  readonly label: string
  /** The name under which this browser keeps the share of the first side. */
  readonly name: string
}

/** The shares of the first side, in percent. */
const least = 25
const most = 75
const step = 2

/**
 * The line between two parts of a page, which a person moves with the mouse or the arrow keys. Its parent has the share of
 * the first part in `--split`. This browser remembers it.
 */
export function Splitter({ label, name }: Props) {
  const line = useRef<HTMLDivElement>(null)
  const key = `split-${name}`
  const set = (share: number) => {
    const { current } = line
    const kept = Math.round(Math.min(Math.max(share, least), most))
    current?.parentElement?.style.setProperty('--split', `${kept}%`)
    current?.setAttribute('aria-valuenow', String(kept))
    localStorage.setItem(key, String(kept))
  }
  const now = () => Number(localStorage.getItem(key) ?? 50) || 50
  useLayoutEffect(() => set(now()), [])
  return (
    <div
      ref={line}
      class="splitter"
      role="separator"
      aria-label={label}
      aria-orientation="vertical"
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={now()}
      tabIndex={0}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -step, ArrowRight: step }[event.key]
        if (by === undefined) return
        event.preventDefault()
        set(now() + by)
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
        const { left = 0, width = 1 } = line.current?.parentElement?.getBoundingClientRect() ?? {}
        set(((event.clientX - left) / width) * 100)
      }}
    />
  )
}
