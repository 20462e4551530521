/** Keys or commands, and what they do. */
export type Help = readonly (readonly [what: string, about: string])[]

/** The keys and commands of `attach`. */
export const attachHelp: Help = [
  ['Enter', 'send the line; while a turn is active, steer it, or send it after the turn'],
  ['Alt-Enter', 'queue the line for after the turn; so does /queue TEXT'],
  ['Tab', 'hide a question, to type a line first; again: show it'],
  ['Ctrl-C', 'clear the line; if it is empty, cancel the turn; again: leave'],
  ['Ctrl-D', 'leave; the session goes on'],
  ['Ctrl-L, Ctrl-Z', 'clear the screen; stop this command until `fg`'],
  ['/next', 'start a turn with the first message that waits'],
  ['/resume', 'let an interrupted turn go on'],
  ['/cancel', 'cancel the turn'],
  ['/help, /quit', 'this list; leave'],
  ['!COMMAND', 'run a command in the session’s folder'],
  ['/…', 'any other command goes to the agent'],
]

/** Returns the help as rows. They break between words, and in a narrow window each meaning is below its key. */
export function helpLines(help: Help, columns: number): readonly string[] {
  const narrow = columns < 60
  const indent = ' '.repeat(narrow ? 6 : 17)
  return help.flatMap(([what, about]) => {
    const rows = wordRows(about, columns - indent.length - 1).map((row) => indent + row)
    if (narrow) return [`  ${what}`, ...rows]
    const [first = '', ...others] = rows
    return [`  ${what}`.padEnd(indent.length) + first.trimStart(), ...others]
  })
}

function wordRows(text: string, columns: number): readonly string[] {
  const rows: string[] = []
  for (const word of text.split(' ')) {
    const last = rows.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns)
      rows[rows.length - 1] = `${last} ${word}`
    else rows.push(word)
  }
  return rows
}
