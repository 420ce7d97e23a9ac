// SPDX-License-Identifier: Apache-2.0
// Decoder says whether kubelet decodes from a text what the agent judged. It reads the texts from
// standard input. Each is a record of three parts: a byte with flags, the text, and what the agent
// read from it, as JSON. An empty third part means that the agent refuses the text. The length of
// a part stands before it, in 4 bytes, big endian.
//
// For each record it writes a line: `+` where kubelet decodes the text and `-` where it does not,
// then the difference to what the agent read, if there is one.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	"sigs.k8s.io/yaml"
)

// inexact marks an integer of which JavaScript does not keep every digit.
const inexact = 1

// longest bounds what of a value and of an error is printed.
const longest = 300

type decoder struct{ codecs *serializer.CodecFactory }

func main() {
	silenceLog()
	_, codecs, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		fail(err)
	}
	in, out := bufio.NewReaderSize(os.Stdin, 1<<20), bufio.NewWriter(os.Stdout)
	for {
		flags, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return
		}
		text := readPart(in)
		ours := readPart(in)
		accepted, difference := decoder{codecs}.compare(text, ours, flags&inexact != 0)
		sign := "-"
		if accepted {
			sign = "+"
		}
		fmt.Fprintf(out, "%s%s\n", sign, strings.Map(plain, difference))
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				fail(err)
			}
		}
	}
}

func (d decoder) compare(text, ours []byte, isInexact bool) (bool, string) {
	theirs, err := d.decode(text)
	if len(ours) == 0 {
		return err == nil, ""
	}
	if difference := compareValues(text, ours); difference != "" {
		return err == nil, difference
	}
	if err != nil || isInexact {
		return err == nil, ""
	}
	same, err := d.decode(ours)
	if err != nil {
		return true, cut(fmt.Sprintf("kubelet does not decode what the agent read: %v", err))
	}
	// With feature gates, what kubelet 1.37 fills in depends on what it has decoded before.
	if !reflect.DeepEqual(theirs, same) && canonical(text) != canonical(ours) {
		return true, "the text and what the agent read are not equal once they are decoded"
	}
	return true, ""
}

// decode gives the config. Where kubelet panics as it fills in defaults, which it does for some
// feature gates, that is its result: rules of the agent refuse such a config, and not its reader.
func (d decoder) decode(text []byte) (config any, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			config, err = fmt.Sprint(reason), nil
		}
	}()
	return decode(d.codecs, text)
}

// compareValues compares the values before they become a KubeletConfiguration, which does not have
// the fields that kubelet ignores.
func compareValues(text, ours []byte) string {
	converted, err := toJSON(text)
	if err != nil {
		return cut(fmt.Sprintf("the agent reads it, and kubelet does not: %v", err))
	}
	var theirs, expected any
	if err := json.Unmarshal(converted, &theirs); err != nil {
		return cut(fmt.Sprintf("the agent reads it, and kubelet does not: %v", err))
	}
	if err := json.Unmarshal(ours, &expected); err != nil {
		fail(err)
	}
	if reflect.DeepEqual(theirs, expected) {
		return ""
	}
	return cut(fmt.Sprintf("kubelet reads %s", converted))
}

func toJSON(text []byte) ([]byte, error) {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") {
		return text, nil
	}
	return yaml.YAMLToJSON(text)
}

// canonical writes a text that was read before as JSON with its keys in order and every digit.
func canonical(text []byte) string {
	converted, err := toJSON(text)
	if err != nil {
		fail(err)
	}
	var value any
	numbers := json.NewDecoder(bytes.NewReader(converted))
	numbers.UseNumber()
	if err := numbers.Decode(&value); err != nil {
		fail(err)
	}
	written, err := json.Marshal(value)
	if err != nil {
		fail(err)
	}
	return string(written)
}

func readPart(in io.Reader) []byte {
	var length uint32
	if err := binary.Read(in, binary.BigEndian, &length); err != nil {
		fail(err)
	}
	part := make([]byte, length)
	if _, err := io.ReadFull(in, part); err != nil {
		fail(err)
	}
	return part
}

// silenceLog keeps back the warning that a text was decoded leniently.
func silenceLog() {
	flags := flag.NewFlagSet("klog", flag.ExitOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			fail(err)
		}
	}
	klog.SetOutput(io.Discard)
}

// plain replaces what could end a line.
func plain(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}

func cut(text string) string {
	if len(text) > longest {
		return text[:longest]
	}
	return text
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
