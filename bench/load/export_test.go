//go:build linux

package load

import "errors"

// ReadBuffer is how much is read of an answer at once.
const ReadBuffer = readBuffer

// Exchange sends a request over a connection of its own and returns the body of the answer.
func Exchange(host, request string) (body []byte, err error) {
	c, err := dial(host)
	if err != nil {
		return nil, err
	}
	_, body, err = c.exchange([]byte(request))
	return body, errors.Join(err, c.close())
}
