import { EllipsisVertical } from 'lucide'
import type { IconNode } from 'lucide'
import { useId, useRef, useState } from 'preact/hooks'
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

/**
 * A button that opens a list of actions. The list is a popover of the browser: it closes by itself. Its items are made when
 * it is first opened, because every message has a menu, and few are ever opened.
 */
export function Menu({ label, items }: Props) {
  const id = useId()
  const [used, setUsed] = useState(false)
  return (
    <>
      <MenuButton list={id} label={label} onOpen={() => setUsed(true)} />
      <MenuList id={id} label={label} items={used ? items : []} />
    </>
  )
}

interface ButtonProps {
  /** The id of the list that the button opens. */
  readonly list: string
  readonly label: string
  readonly onOpen?: () => void
}

export function MenuButton({ list, label, onOpen }: ButtonProps) {
  return (
    <button
      type="button"
      class="button quiet only menu-button"
      popovertarget={list}
      aria-label={label}
      title={label}
      onClick={(event) => {
        event.stopPropagation()
        place(list, event.currentTarget)
        onOpen?.()
      }}
    >
      <Icon of={EllipsisVertical} />
    </button>
  )
}

/** The list of a menu. Several buttons can share it. It then stays open while one of them is drawn at another place. */
export function MenuList({ id, label, items }: Props & { readonly id: string }) {
  const list = useRef<HTMLDivElement>(null)
  return (
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
  )
}

/** Puts the list below its button, or higher if the window ends there. */
function place(id: string, button: HTMLButtonElement): void {
  const { bottom, right } = button.getBoundingClientRect()
  const list = document.getElementById(id)
  if (!list) return
  list.style.top = `min(${bottom + 4}px, calc(100dvh - ${mostHeight}px))`
  list.style.left = `${Math.max(8, right - 190)}px`
}

/** In pixels. The height of a list with four actions, which no menu exceeds. */
const mostHeight = 4 * 40 + 12
