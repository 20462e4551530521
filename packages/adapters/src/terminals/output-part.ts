/** A part of what a program writes, in its order. */
export type Piece =
  /** To be shown. */
  | { readonly data: string }
  | { readonly title: string }
  /** A `file:` URI. */
  | { readonly cwd: string }
  | { readonly mark: Mark }
  /** To be answered once, by the host (S-33). */
  | { readonly query: string }

/** What a shell says of itself between what it shows. */
export type Mark =
  | { readonly at: 'prompt' }
  | { readonly at: 'line'; readonly line: string }
  | { readonly at: 'executed'; readonly line?: string }
  | { readonly at: 'finished'; readonly exitCode?: number }

/** Whom to believe. */
export interface Trust {
  /** Only the shell knows it: what says so without it is some program's. Absent: whoever says so is believed. */
  readonly nonce?: string
  /** The name of this machine: what another one says of its directories is nothing here. */
  readonly hostname?: string
  readonly titleLength: number
}
