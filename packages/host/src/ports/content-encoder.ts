/**
 * Encodes the content of large files as JSON, outside the event loop. A host without this port encodes everything itself,
 * and other clients wait meanwhile.
 */
export interface ContentEncoder {
  /**
   * Returns the result of `resourceRead` as JSON in UTF-8, exactly as `contentOf` in `parts/resources/read.ts` makes it. The bytes
   * are taken over: nobody may use them afterwards.
   */
  encode(bytes: Uint8Array, form: ContentForm): Promise<Uint8Array>
}

export interface ContentForm {
  /** The encoding that the client asked for. Bytes that are not UTF-8 are encoded as base64, whatever was asked for. */
  readonly asked?: 'base64' | 'utf-8'
  readonly contentType?: string
}
