// The names AFNetworking has on Apple's platforms, so that ported code compiles.

/// ``XMLParserResponseSerializer`` under its old name.
public typealias AFXMLParserResponseSerializer = XMLParserResponseSerializer

/// ``XMLDocumentResponseSerializer`` under its old name.
public typealias AFXMLDocumentResponseSerializer = XMLDocumentResponseSerializer
