package org.wiretape.junit5;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as the control API needs: Java has none of its own, and a driver should bring nothing along. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(String text) {
    return (Map<String, Object>) new Json(text).value();
  }

  static String text(Object value) {
    if (value instanceof Map<?, ?> map) {
      List<String> members = new ArrayList<>();
      map.forEach((name, member) -> members.add(text(name) + ":" + text(member)));
      return "{" + String.join(",", members) + "}";
    }
    if (value instanceof List<?> list) return "[" + String.join(",", list.stream().map(Json::text).toList()) + "]";
    if (!(value instanceof String)) return String.valueOf(value);
    StringBuilder quoted = new StringBuilder("\"");
    for (char letter : ((String) value).toCharArray()) {
      if (letter < 0x20 || letter == '"' || letter == '\\') quoted.append(String.format("\\u%04x", (int) letter));
      else quoted.append(letter);
    }
    return quoted.append('"').toString();
  }

  private char next() {
    while (Character.isWhitespace(this.text.charAt(this.at))) this.at++;
    return this.text.charAt(this.at);
  }

  private boolean takes(char letter) {
    if (next() != letter) return false;
    this.at++;
    return true;
  }

  private Object value() {
    switch (next()) {
      case '{': {
        Map<String, Object> map = new LinkedHashMap<>();
        this.at++;
        while (!takes('}')) {
          takes(',');
          next();
          String name = string();
          takes(':');
          map.put(name, value());
        }
        return map;
      }
      case '[': {
        List<Object> list = new ArrayList<>();
        this.at++;
        while (!takes(']')) {
          takes(',');
          list.add(value());
        }
        return list;
      }
      case '"':
        return string();
      default: {
        int start = this.at;
        while (this.at < this.text.length() && ",]} \n\r\t".indexOf(this.text.charAt(this.at)) < 0) this.at++;
        String word = this.text.substring(start, this.at);
        return switch (word) {
          case "true" -> true;
          case "false" -> false;
          case "null" -> null;
          default -> Double.valueOf(word);
        };
      }
    }
  }

  private String string() {
    StringBuilder result = new StringBuilder();
    for (this.at++; this.text.charAt(this.at) != '"'; this.at++) {
      char letter = this.text.charAt(this.at);
      if (letter != '\\') {
        result.append(letter);
        continue;
      }
      letter = this.text.charAt(++this.at);
      int escape = "bfnrt".indexOf(letter);
      if (letter == 'u') {
        result.append((char) Integer.parseInt(this.text.substring(this.at + 1, this.at + 5), 16));
        this.at += 4;
      } else {
        result.append(escape < 0 ? letter : "\b\f\n\r\t".charAt(escape));
      }
    }
    this.at++;
    return result.toString();
  }
}
