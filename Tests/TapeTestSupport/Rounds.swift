internal import Foundation

/// How often a property is tried: in full by `make stress`, a fifth of that in the tests, with the same seeds.
package func rounds(_ count: Int) -> Int { isStress ? count : max(count / 5, 1) }

private let isStress = ProcessInfo.processInfo.environment["WIRETAPE_STRESS"] != nil
