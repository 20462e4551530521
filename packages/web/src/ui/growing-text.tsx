import { forwardRef } from 'preact/compat'
import { useImperativeHandle, useLayoutEffect, useRef } from 'preact/hooks'

interface Props {
  readonly value: string
  readonly label: string
  readonly placeholder?: string
  readonly rows?: number
  /** Whether a dialog gives the field its focus when it opens. */
  readonly autoFocus?: boolean
  readonly onInput: (value: string) => void
  readonly onKeyDown?: (event: KeyboardEvent) => void
  readonly onPaste?: (event: ClipboardEvent) => void
  readonly onBlur?: () => void
  /** The ids of the list of suggestions and of its active option. Undefined: no list is shown now. */
  readonly suggestions?: { readonly list: string; readonly active: string } | undefined
}

/** A text field that is as tall as its text, up to the height that its style allows. */
export const GrowingText = forwardRef<HTMLTextAreaElement, Props>(function GrowingText(
  {
    value,
    label,
    placeholder,
    rows = 1,
    autoFocus = false,
    onInput,
    onKeyDown,
    onPaste,
    onBlur,
    suggestions,
  },
  given,
) {
  const own = useRef<HTMLTextAreaElement>(null)
  useImperativeHandle(given, () => own.current as HTMLTextAreaElement, [])
  useLayoutEffect(() => {
    const { current } = own
    // An empty field has the height of its rows. Reading its height would make the browser lay the page out.
    if (current && value === '') return void (current.style.height = '')
    // A field that is not shown yet has no height. Then `rows` determines its height.
    if (!current || current.scrollHeight === 0) return
    current.style.height = 'auto'
    current.style.height = `${current.scrollHeight + 2}px`
  }, [value])
  return (
    <textarea
      ref={own}
      class="growing"
      rows={rows}
      autofocus={autoFocus}
      aria-label={label}
      aria-autocomplete={suggestions && 'list'}
      aria-haspopup={suggestions && 'listbox'}
      aria-controls={suggestions?.list}
      aria-activedescendant={suggestions?.active}
      placeholder={placeholder}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
      onKeyDown={onKeyDown}
      onPaste={onPaste}
      onBlur={onBlur}
    />
  )
})
