// Questions to the server, one at a time: while one is under way only the newest other waits, so a drag never queues.

/** `ask(question)` that calls `answered(answer, newest)` or `refused(sentence)`; `live` false looks answers up in `saved`. */
export function asker({ live, saved, answered, refused }) {
  let waiting = null;
  let busy = false;
  async function next() {
    if (busy || waiting === null) return;
    const question = waiting;
    waiting = null;
    busy = true;
    try {
      const found = live ? await post("answer", JSON.stringify(question.body)) : saved[question.key];
      answered(found, waiting === null);
    } catch (error) {
      refused(error.message);
    }
    busy = false;
    next();
  }
  return (question) => {
    waiting = question;
    return next();
  };
}

/** What the server answers to `body`; an Error with its sentence where it refuses. */
export async function post(where, body) {
  let response;
  try {
    response = await fetch(where, { method: "POST", body });
  } catch {
    throw new Error("The explorer's server does not answer: start it again with `incenter explore`.");
  }
  const found = await response.json();
  if (!response.ok) throw new Error(found.error);
  return found;
}
