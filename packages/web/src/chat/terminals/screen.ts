import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'

/** A terminal on the screen. */
export interface Screen {
  write(text: string): void
  /** Forgets everything and shows this text. */
  replace(text: string): void
  /** Adapts the number of columns and rows to the size of the element, and returns them. */
  fit(): { readonly cols: number; readonly rows: number }
  focus(): void
  dispose(): void
}

/** Opens a terminal in a place of the page. This module is large, so it is loaded with the first terminal. */
export function openScreen(place: HTMLElement, onInput: (data: string) => void): Screen {
  const style = getComputedStyle(document.documentElement)
  const terminal = new Terminal({
    fontFamily: style.getPropertyValue('--mono'),
    fontSize: 13,
    scrollback: 5000,
    screenReaderMode: true,
    theme: { background: '#16181d', foreground: '#e8e8ea', cursor: '#8ea6ff' },
    // Links in the output of a program do nothing when they are clicked.
    linkHandler: { activate: () => {} },
  })
  const fitting = new FitAddon()
  terminal.loadAddon(fitting)
  terminal.open(place)
  terminal.onData(onInput)
  return {
    write: (text) => terminal.write(text),
    replace(text) {
      terminal.reset()
      terminal.write(text)
    },
    fit() {
      fitting.fit()
      return { cols: terminal.cols, rows: terminal.rows }
    },
    focus: () => terminal.focus(),
    dispose: () => terminal.dispose(),
  }
}
