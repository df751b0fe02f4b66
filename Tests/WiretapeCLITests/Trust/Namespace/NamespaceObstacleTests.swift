import Testing

@testable import WiretapeCLI

@Suite struct NamespaceObstacleTests {
    @Test(arguments: NamespaceObstacle.Step.allCases) func aLineIsReadBack(step: NamespaceObstacle.Step) {
        let obstacle = NamespaceObstacle(step: step, number: 22)
        #expect(NamespaceObstacle(line: obstacle.line) == obstacle)
    }

    @Test(arguments: ["", "cover", "cover x", "other 1", "cover 1 2"]) func noOtherLineIs(line: String) {
        #expect(NamespaceObstacle(line: line) == nil)
    }
}
