/** A notification as it is shown. */
export interface ShownNotice {
  readonly title: string
  readonly body: string
  /** A later notification with the same tag takes its place. */
  readonly tag: string
  /** The place of the session in the page. */
  readonly link: string
}

/** The words for a push of the host. The browser shows something for every push, so a text that nobody knows has words, too. */
export function noticeOf(text: string): ShownNotice {
  const { session = '', link = '' } = fieldsOf(text)
  const place = /^\/#\/(?:session\/[^/]+(?:\/[^/]+)?)?$/.test(link) ? link : '/#/'
  if (session === '') return { title: 'Atrium', body: 'Notifications work.', tag: 'atrium', link: place }
  // The link of a session that waits leads to the chat that does.
  const waits = place.split('/').length > 4
  return {
    title: waits ? 'A session needs you' : 'A session has ended',
    body: 'Open it to see what was done.',
    tag: session,
    link: place,
  }
}

function fieldsOf(text: string): { readonly session?: string; readonly link?: string } {
  try {
    const value: unknown = JSON.parse(text)
    const fields = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(fields.filter(([, each]) => typeof each === 'string'))
  } catch {
    return {}
  }
}
