/** A customization from 0.2 on, with the keys that the rules below read. */
interface Customization {
  readonly id: string
  readonly enabled?: boolean
  readonly children?: readonly Customization[]
}

interface Holder {
  readonly customizations?: readonly Customization[]
}

interface Toggle {
  readonly id: string
  readonly enabled: boolean
}

/** Applies a toggle as the versions from 0.2 to 0.5.1 do: to the customizations at the top level only. */
export function topToggled<S extends Holder>(state: S, { id, enabled }: Toggle): S {
  const list = state.customizations ?? []
  const at = list.findIndex((item) => item.id === id)
  const item = list[at]
  return item ? { ...state, customizations: list.with(at, { ...item, enabled }) } : state
}

/**
 * Applies a toggle as the versions from 0.5.2 to 0.7 do: to a customization at the top level or, if none there has
 * the id, to the first child with that id.
 */
export function toggled<S extends Holder>(state: S, toggle: Toggle): S {
  const list = state.customizations ?? []
  if (list.some((item) => item.id === toggle.id)) return topToggled(state, toggle)
  const at = list.findIndex((item) => item.children?.some((child) => child.id === toggle.id))
  const container = list[at]
  if (!container?.children) return state
  const child = container.children.findIndex(({ id }) => id === toggle.id)
  const children = container.children.map((item, i) =>
    i === child ? { ...item, enabled: toggle.enabled } : item,
  )
  return { ...state, customizations: list.with(at, { ...container, children }) }
}
