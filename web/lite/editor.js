import { element } from './element.js';
import { paint } from './paint.js';

// Editor is a text area with colours, line numbers and indentation. The colours are a copy of the
// text beneath the text area, whose own letters are transparent.
export class Editor {
  #area;
  #copy;
  #gutter;
  #language;
  #leaving = false;

  // host is the empty element to fill; changed is called with the text after each change.
  constructor(host, language, placeholder, changed) {
    this.#language = language;
    this.#area = element('textarea', {
      spellcheck: false,
      autocomplete: 'off',
      placeholder,
      autocapitalize: 'off',
      'aria-labelledby': host.dataset.label,
      'aria-describedby': 'editor-keys',
      onkeydown: (event) => this.#key(event),
      onblur: () => { this.#leaving = false; },
      oninput: () => {
        this.#draw();
        changed(this.text);
      },
    });
    this.#copy = element('pre', { className: 'copy', 'aria-hidden': 'true' });
    this.#gutter = element('pre', { className: 'gutter', 'aria-hidden': 'true' });
    host.append(this.#gutter, this.#copy, this.#area);
    this.#draw();
  }

  get text() {
    return this.#area.value;
  }

  // caret is the offset of the caret in the text.
  get caret() {
    return this.#area.selectionStart;
  }

  // set puts the first text in.
  set(text) {
    this.#area.value = text;
    this.#draw();
    this.#enter();
  }

  // load replaces the text, which the user can undo, and goes there.
  load(text) {
    this.#area.focus({ preventScroll: true });
    this.#area.select();
    this.insert(text);
    this.#enter();
  }

  // insertAt puts text in at an offset.
  insertAt(at, text) {
    this.#area.setSelectionRange(at, at);
    this.insert(text);
  }

  // insert puts text in place of the selection, and can be undone: only execCommand keeps the
  // browser's own history.
  insert(text) {
    this.#area.focus({ preventScroll: true });
    if (text === this.#selected()) return;
    const done = document.execCommand(text ? 'insertText' : 'delete', false, text);
    if (done) return;
    this.#area.setRangeText(text, this.#area.selectionStart, this.#area.selectionEnd, 'end');
    this.#area.dispatchEvent(new Event('input'));
  }

  // goTo puts the caret at a line and column, both counted from 1.
  goTo(line, column) {
    const before = this.text.split('\n').slice(0, line - 1);
    const at = before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    this.#area.focus();
    this.#area.setSelectionRange(at, at);
  }

  // enter puts the caret at the end of the last selection set, where a field can be added.
  #enter() {
    const end = Math.max(0, this.text.search(/\s*\}\s*$/));
    this.#area.setSelectionRange(end, end);
  }

  #selected() {
    return this.text.slice(this.#area.selectionStart, this.#area.selectionEnd);
  }

  #draw() {
    this.#copy.replaceChildren(...paint(this.text, this.#language), '\n');
    const lines = this.text.split('\n').length;
    this.#gutter.textContent = Array.from({ length: lines }, (_, line) => line + 1).join('\n');
  }

  // Tab indents, but after Escape it moves on as everywhere else: the editor is no keyboard trap.
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === 'Tab' && !this.#leaving) {
      event.preventDefault();
      this.#indent(event.shiftKey);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      this.#newline();
    }
    this.#leaving = event.key === 'Escape' || (this.#leaving && event.key === 'Shift');
  }

  #indent(back) {
    const { selectionStart: start, selectionEnd: end } = this.#area;
    if (start === end && !back) {
      this.insert('  ');
      return;
    }
    const from = this.text.lastIndexOf('\n', start - 1) + 1;
    const block = this.text.slice(from, end);
    const moved = back ? block.replace(/^ {1,2}/gm, '') : block.replace(/^(?=.)/gm, '  ');
    if (moved === block) return;
    this.#area.setSelectionRange(from, end);
    this.insert(moved);
    const shift = moved.length - block.length;
    this.#area.setSelectionRange(start === end ? Math.max(from, end + shift) : from, end + shift);
  }

  #newline() {
    const line = this.text.slice(this.text.lastIndexOf('\n', this.caret - 1) + 1, this.caret);
    const indentation = line.match(/^ */)[0];
    const opens = /[{([]\s*$/.test(line);
    this.insert(`\n${indentation}${opens ? '  ' : ''}`);
    const caret = this.caret;
    if (opens && /^[})\]]/.test(this.text.slice(caret))) {
      this.insert(`\n${indentation}`);
      this.#area.setSelectionRange(caret, caret);
    }
  }
}
