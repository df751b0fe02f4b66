// SPDX-License-Identifier: Apache-2.0

// Starts the tests of a build without the compiler's index (`--disable-index-store`), which takes a third less time. Without the index SwiftPM
// does not find the classes of XCTest on Linux, so they stand here; `make lint` checks that none is missing. Tests written with Swift
// Testing are found without a list. SwiftPM uses this file under the name XCTMain.swift, which .ci/run gives it.

import Dispatch
import Testing
import XCTest

@testable import DocumentationTests
@testable import WiretapeTestingTests

@main enum Runner {
    static func main() {
        let arguments = CommandLine.arguments
        if let option = arguments.firstIndex(of: "--testing-library"), arguments.dropFirst(option + 1).first == "swift-testing" {
            Task { await Testing.__swiftPMEntryPoint() as Never }
            dispatchMain()
        }
        XCTMain([
            testCase([
                ("testAsyncBodyReplays", asyncTest(XCTestCaseCassetteTests.testAsyncBodyReplays)),
                ("testCassetteIsForTheBodyAlone", XCTestCaseCassetteTests.testCassetteIsForTheBodyAlone),
                ("testCassetteThatCannotBeOpenedIsThrown", XCTestCaseCassetteTests.testCassetteThatCannotBeOpenedIsThrown),
                ("testMethodGivesTheName", XCTestCaseCassetteTests.testMethodGivesTheName),
            ]),
            testCase([("testListsPets", asyncTest(ShopXCTests.testListsPets))]),
            testCase([("testWeather", asyncTest(WeatherXCTests.testWeather))]),
        ])
    }
}
