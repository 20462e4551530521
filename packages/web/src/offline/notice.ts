/** A notification as it is shown. */
export interface ShownNotice {
  readonly title: string
  readonly body: string
  /** A later notification with the same tag takes its place. */
  readonly tag: string
  /** The address of the session in the page, such as `/#/session/abc`. */
  readonly link: string
}

/**
 * The notification for a push of the host. A push of any other text is shown, too, because a browser must show
 * something for every push.
 */
export function noticeOf(text: string): ShownNotice {
  const { session = '', link = '' } = fieldsOf(text)
  const place = /^\/#\/(?:automations|session\/[^/]+(?:\/[^/]+)?)?$/.test(link) ? link : '/#/'
  if (session === '' && place === '/#/automations')
    return {
      title: 'An automation has missed a run',
      body: 'Open its history to see why.',
      tag: 'automations',
      link: place,
    }
  if (session === '') return { title: 'Atrium', body: 'Notifications work.', tag: 'atrium', link: place }
  // If the session waits for a person, its link names the chat that waits. So a link with a chat means that the
  // session waits.
  const waits = place.split('/').length > 4
  return {
    title: waits ? 'A session needs you' : 'The work of a session has ended',
    body: waits ? 'Open it to answer.' : 'Open it to see what was done.',
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
