package fake

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// The limits of the tags of a resource.
const (
	maxTags     = 50
	maxTagKey   = 128
	maxTagValue = 256
)

// tagText is what AWS calls generally allowed in tags.
var tagText = regexp.MustCompile(`^[\pL\pN\pZ+=._:/@-]*$`)

// checkTags refuses the tags of a request that no resource can have.
func checkTags(tags []types.Tag) error {
	seen := map[string]bool{}
	for _, t := range tags {
		key, value := deref(t.Key), deref(t.Value)
		switch {
		case key == "" || utf8.RuneCountInString(key) > maxTagKey:
			return invalid("A tag key must have 1 to %d characters.", maxTagKey)
		case utf8.RuneCountInString(value) > maxTagValue:
			return invalid("The value of the tag %s has more than %d characters.", key, maxTagValue)
		case strings.HasPrefix(strings.ToLower(key), "aws:") || strings.HasPrefix(strings.ToLower(value), "aws:"):
			return invalid("The prefix aws: is reserved, found the tag %s.", key)
		case !tagText.MatchString(key) || !tagText.MatchString(value):
			return invalid("The tag %s has a character that is not allowed.", key)
		case seen[key]:
			return invalid("Duplicate tag keys found: %s.", key)
		}
		seen[key] = true
	}
	return atMostTags(tags)
}

func atMostTags(tags []types.Tag) error {
	if len(tags) > maxTags {
		return invalid("A resource can have at most %d tags, found %d.", maxTags, len(tags))
	}
	return nil
}

func tagResource(c *Cloud, in *ecs.TagResourceInput) (*ecs.TagResourceOutput, error) {
	if !strings.Contains(deref(in.ResourceArn), ":service/main/") {
		return nil, invalid("Long arn format must be used for tagging operations, found %s.", deref(in.ResourceArn))
	}
	if err := checkTags(in.Tags); err != nil {
		return nil, err
	}
	s, err := c.findActive(nil, in.ResourceArn)
	if err != nil {
		if asRefusal(err).code == "ServiceNotFoundException" {
			return nil, refuse("ResourceNotFoundException", "The specified resource is inactive or not found.")
		}
		return nil, err
	}

	tags := slices.Clone(s.described.Tags)
	for _, tag := range in.Tags {
		tags = slices.DeleteFunc(tags, func(t types.Tag) bool { return deref(t.Key) == deref(tag.Key) })
		tags = append(tags, tag)
	}

	if err := atMostTags(tags); err != nil {
		return nil, err
	}
	s.described.Tags = tags
	return &ecs.TagResourceOutput{}, nil
}
