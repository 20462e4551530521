import { EllipsisVertical } from 'lucide'
import type { IconNode } from 'lucide'
import { useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface MenuItem {
  readonly label: string
  readonly icon: IconNode
  readonly danger?: boolean
  readonly onPick: () => void
}

interface Props {
  readonly label: string
  readonly items: readonly MenuItem[]
}

/** A button that opens a list of actions. The list is a popover of the browser: it closes by itself. */
export function Menu({ label, items }: Props) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const place = () => {
    const { bottom, right } = button.current?.getBoundingClientRect() ?? { bottom: 0, right: 0 }
    const { current } = list
    if (!current) return
    const height = items.length * 40 + 12
    current.style.top = `${Math.min(bottom + 4, innerHeight - height)}px`
    current.style.left = `${Math.max(8, right - 190)}px`
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button quiet only menu-button"
        popovertarget={id}
        aria-label={label}
        title={label}
        onClick={(event) => {
          event.stopPropagation()
          place()
        }}
      >
        <Icon of={EllipsisVertical} />
      </button>
      <div ref={list} id={id} popover="auto" class="menu" role="group" aria-label={label}>
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            class={item.danger ? 'danger' : ''}
            onClick={(event) => {
              event.stopPropagation()
              list.current?.hidePopover()
              item.onPick()
            }}
          >
            <Icon of={item.icon} />
            {item.label}
          </button>
        ))}
      </div>
    </>
  )
}
