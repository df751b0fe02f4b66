internal import Foundation

/// How often a property is tested: in full with `make stress`, and a fifth as often in the tests, with the same seeds.
package func rounds(_ count: Int) -> Int { isStress ? count : max(count / 5, 1) }

private let isStress = ProcessInfo.processInfo.environment["WIRETAPE_STRESS"] != nil
