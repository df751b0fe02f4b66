package org.wiretape.junit5;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Records and replays the HTTP traffic of tests: {@code @Wiretape} on a class or a method.
 *
 * <p>The cassette is {@code src/test/resources/cassettes/CLASS/METHOD.json}. A test that sends a request that was not recorded fails with the
 * report.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(WiretapeExtension.class)
public @interface Wiretape {
  /** The cassette's name without its folder; by default of the class and the method. */
  String cassette() default "";

  /** {@code none}, {@code once}, {@code new-episodes} or {@code all}; WIRETAPE_MODE comes first. Default: once, and none if CI is set. */
  String mode() default "";

  /** Places that requests may differ at, as {@code query:ts}. */
  String[] ignore() default {};

  /** What requests are compared by, instead of method, URL and body. */
  String[] match() default {};

  /** What fails the test: {@code miss}, {@code unused}, {@code order}, {@code unsearched}, or only {@code none}. */
  String[] failOn() default {};
}
